/// Private keys that exist for these tests only, made with the `openssl` program.
enum KeySamples {
  static let p256 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghOSm1RMD9gMiwe5U
    kvGK+RRQby3YBoQ6Q5zJP2YiWSahRANCAATtltzat5xLQM7u+FyRxf+xJAlYv9Ar
    FE149JofHPDCdg/zXgKdNNQKEKvDpySseQXZATAv6rG5SBIaZKHosAlN
    -----END PRIVATE KEY-----
    """

  static let p384 = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAEkl1n8+71dlrRk3Vy
    fRMrXrIwfR0+BK2R9JR5l710UsDwGksxqyFwr37yO6a9Cg2hZANiAAS9x4cjpUXi
    5HjH+Une5/Dcd5Y71pm6xNiOqrc2/wE4yL3A/eJ5RDyijotPhMFouRN3Y11heh5x
    LX6w8Loepceje82rYUxDGmHFUTpOul+d0N3IfhzI+UGlC0QLXXTfWgw=
    -----END PRIVATE KEY-----
    """

  static let secp256k1 = """
    -----BEGIN PRIVATE KEY-----
    MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQg//dCjUJZAdgz1LJMgmGU
    AkbIrG3sJKsXJmv4Vb9TnjGhRANCAATyc+DgnLgwu8wmHWhaKW4e35IX8nZur/tl
    ZMGFsotmz/vwftffgzTfFGtG39yQzLDT4rQ2h9lcbIVHZ4i2FwUQ
    -----END PRIVATE KEY-----
    """

  static let ed25519 = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIHdJAIvUzWibSHAgrdgJqBTOlzRTWw2hXWxcoyw1DJu4
    -----END PRIVATE KEY-----
    """

  static let rsa1024 = """
    -----BEGIN PRIVATE KEY-----
    MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBANpQaUqLiMovNltH
    Yf0RInJiH3IwbE5MeKyGGTIvgINqELy8mPVbPGnWVleXXlppv7IUDpMm1ph/oKwq
    G0Al79KPOf3Npi5XapkzUKrJuqS8VUAuBoFRGmqDSl+seKtijFQE4cqL1qwdlEQx
    QqEL9HKAdDYZ5Y2qwqyi4X05lSjtAgMBAAECgYAWYPPKHm+ROjG6PaD/zgfX7dMH
    Y4tWo2QjW0Ot70yfK/o3PqX3ULjqqHwFUpDrd7ecy42K7ApHa53OyCou8zSYElqI
    hIZYW92fTiK84KfkG0bCJ969+rhTFLVy4AVRDTahkdPu2X1h3DWG9z4hG0vOVfz9
    EWMX6VwPTXfA+n8WSQJBAP4WUHDJvMb+9FksDpvKWPk9g3DU62pYBKHx9UyX0kF7
    i5fOUodSYaT2snOXpeLGeKJLXZsB0isUulxFU8D0qbMCQQDb9SdqeGsT9xHFG0YB
    ZqA87LLOsEHvXCCjqzLpXAtB2WwdTMFbUJEi5ifZ+jq+mUxWmiJoeg0ulvsicdjA
    flLfAkEA2kKAxuIEb0wCyba2tcyTsUXN6tZ7gtYo5JPbive/fNCLkNOCwQtbJUFk
    +TaDINIsPf1PYx+lUax0iV5kG5QPUQJBAKd/6hMvPkOG63ZRTZ81eqLKkWPKX3ua
    iZR5g5ynpj7wBl/NmpUiJlQQNprM7j1E2hg86iTrhOxMt1PEpI355LsCQQDK54zd
    ebc57DyFtulzD+Pi8IP/tAUbY/pBa0VnwbrW7gxzC8q9Hbvo/a3vvsVpbcuZ/MEs
    Cfue5jgJLcxvvO1I
    -----END PRIVATE KEY-----
    """

  static let encryptedWithWord = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjJi24paSTzUQICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEERVJ9O4MN/lj5bMUUcOpuEEgZBp
    pxM1mr7s68rxoVBhUWooDhP5w7fIdM1CwET6iXaxITsjYiXGQaO5c3P8GYUqXZ2f
    rh8QrGd6z9DMkQokxsxDKzTogtQJ9ltDVESKRQ/DaQD7ToU0FOvVmJxzzFsiGVdv
    C50y/vjH9TqxLEvGAMgX67mUAJazhaBZtI7DhtlRT05nmw5pKWPlD1+E+CB5gTI=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  static let encryptedWithNothing = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhS2CXRTQamggICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKkZRc1N9ooAdX7BxKM3QocEgZDn
    zwRuian40MKTxaVTVzNjZckH9cirUzrkI5Rx870vySsxl99EY6vWu1v3PFn0YFvD
    YlY9Gj2JSnN4qb3gMugb8f2YdfCKdWlHAm1afa5oFb7mllmlw0Qfw4KkW+4h9o3l
    WVWu5/rCkpUjSm0Fp4BkGXLCzAbMBkPD9C4EdSIWXqEzG1xiIsI4A1ccqoEUiwA=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  static let encryptedTraditional = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,538EDD1C48C3B19F491DF3C35B85D859

    j7GRmMjOKRv6PBRAh7i4h/BTVyTrRhpFAle13XJAJGekjYVDL256xAQ1MiVZD4vg
    DfYVpAWgsU29vnQZv8mZLmh8t5QJhvmwxjAqH+Aqa6raFWfHDIfX3EdjHdLuts3N
    OIiYw1RQkHFiRGEP8Ru5aYgawTo/rsZvlP/wU9ESONQ=
    -----END EC PRIVATE KEY-----
    """
}
