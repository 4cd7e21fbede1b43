import Crypto
import Domain

/// Two RSA keys that exist for tests only, made with `openssl genpkey`. They are fixed, because making one takes
/// a tenth of a second.
enum ForgeKeys {
  static let apple = """
    -----BEGIN PRIVATE KEY-----
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDFAsv/mokFRBx9
    Q4xuHaFIxupcJcDCYl5xg+ot1XwVoQPNseEaN/vD0QlBYtLsinKJCE8lfSoSbnbv
    Ft8gYnkCwq2xfVSI26oCKj1cgy+kdU8NByFFE5XVlFo3ZCac3KEto8cHruZPEOL4
    Dsm3s1anpujIUOoQEYiQ2ErD5niUkMxWzIkfz25eG/0S/0rGtj3aW/kbEJPusiSx
    /RnkYk8002YpNsCYc/+ZS8cbYyc1dEd5dTz0eSbAAZFrsDojiyM85yyIMIZcyBHH
    1jiWWcOTUE1aqERf6tp+xyCgbli///nLwC+JomrQNeU80ApPUgOswVAIQaK+N9Bb
    FP7meCI1AgMBAAECggEAGSwfECj47ncSM9AscopvJ+sgmUcKntuuSQ9LnfEb4nCZ
    GZBrnGvAS7gbGGNt42LaOReac0YPmNzL7gcsWckzQI7K3jWPFlCI469teTNa5EbH
    47iAQAD9YVWMBG1TwLGxF3GIdfsbOsmD0qGjFQmBXjkFn8i063ouCqHURb0eNY8k
    ZKHNqLJqNs8Aykhf9WmVB3XJOAmcHVtq/WAYpcKKGotesvzqF8IAbSqk793u9gyi
    Eexrm+BHN2zZAE0v4T1afsZKB4IECfyVxGRpDo9LmY/i3THKE5GrgXmCmRyErieE
    nT0nyTah+jVvxiKyykf7IGn7RxtYAE7zpDi25MJo2QKBgQDiHg7f2lEm8AiUfUxJ
    RFtmC3geyHHLsFJs0Z/ay5drR9NfUMFMOXyoMFideH4ywnnJfpuZWBuvK/DKjliA
    8ZZ4fVUiaX1P/1McL+jt/atK713Vxk1WHIk0c8bk7AFcZ3xibufWjYISrEtAkEBo
    V54IU/g0tmh9Jukd9ESTIP30GQKBgQDfDAQczVBFc4a25KVLdBOc13ajMx0ZlKtT
    qyqz/A6abcTe4o8tn2qHs1Ql9a/B99UrA53sg+s3vQeZk2BS5ZCsyu84cy8C2gSA
    Slp27xjXN+orTPNC58X7lAfSB6dYi3iVuhSkVTj000Nqm8ctF64w+QwB0AOXpkYR
    zZPoiwXCfQKBgQCfBVicoaL06VZ/Z2chF8vXhjViIMG26Dfvg7USYKAKuKa0n8xx
    WPSMLAQGKtlFxXN0+29edpJxrUtYiKdBd6XE8w/OdbXFbuD6L892oDG5L4Ikd6On
    7cWod8vm7vs+CyF08F5ni3lwvG7n5wsE1qmzXapvF+GAMr87a7BWcJto8QKBgEuo
    McTrR60nMKzdBcyARR7QXyegcOB6c1rgFo4Sk4mCbmMECnj5OBNrmsF9gu6SeDYs
    9eaCIMk5T1iiiuvTfq198IL/XxTiiuBRWDo7g/uMtduWMHWjVJ6vaa+udO8t7+sp
    wVK0rast9hI1YOxEugtWjuIWgwFvnxju2JrqfTupAoGBAJQuBQS7A8EIWHvnXSrw
    vPlXcrKK5j5CDMtX9hTP9R7w1+gpsXzgLGv0+goWcNveJiLLFG8oYxEotKIqNZmc
    X9neh3WVjryOlJqYpsyAax596DmFKts0MXC28EJHbhGnDnFGKYXIEwlVsPtuLc7C
    CcNc1YKd5QvxsF5IqpJ7/V1C
    -----END PRIVATE KEY-----
    """

  static let stranger = """
    -----BEGIN PRIVATE KEY-----
    MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDjjD6aWNdcDX5j
    pVdtqdmb6DfnpefqTJKTh+DHFQkzQjYr01/M9+ChvZpFIMqyzJpRDgPb8WjvXGt1
    3XCQY3jnGX+2RSHnOz52+Kehbd/jcUQ2HFlMtlkq7Ej9VIxnReknpw4qgFeMEZEN
    bHY2+yOV3y8ybL+SzTlmA8sTW4bCrOFgf2PN6BNSoD5uGAN5O3BcYGI9auviSZhL
    vOVMhPHGXET2AqpTt40bu/nGJZYJz4l9AHFB3YQcLdH/CKkRppGPuXrYc9WphcC7
    PFLgov+JCB7qYePf5lmm50L03WdvfFgnZFswAWqs3/iAtKJXP4Tv6rMtrIzLaUFW
    Ld71/QwTAgMBAAECggEADgVz92zRWxcVxQFzjAqy9wbDKHSyVV9XNNy4PsGOvz2C
    5bEbrnSjvzOrZZEUtxnLydd+6Lb3zAVk4G6/Dev4j5JO//tDOzgNAaW8JpgE+23c
    /HyYtWpoajBZ0F+9BcFqvDUbYVu73qICedJHd9yCdSy7KsnwBWq8m7WmINDl/T7Y
    0YlOGyXm/KHfrzAko1X6SmOYfmhy27I72nJxUjCzw11NYdhHSrgs2GTYYRtXN6eQ
    qhu0w5p6FjtrhjicjpSWjpnglG364cTbg6xcesfSfOg8DX4t9IMey4chVijt6tQP
    pPxRMlR8Ez+RIBc4KkmdgH6TGTH9SlUIo6meAsdOYQKBgQDzVdD5ZlhKIHyjvg2Z
    CErDpAUXXm8qun6MT3ml3baMFcWKlsnv/VU7oAyISwDeKh8/Ugtvs8mim9pheFdZ
    mDZHvBj6lW5Jy9jyiWT9NUkeYxJYwgcfQNhnnGYl7eaAd/n2uah6B4oyaQUAZL3R
    5DYZzkCFaZRMG+bTLLtPqsduMQKBgQDvZBP40Zh7t6xy1LwYRnhr87hm/vVAHxTX
    1WfMNWRt15IuCGU4gn8rGDiTW1aRA7WYLrHhq4o2RoWpbt6bniI47l9HogLy2jR3
    8n+yBfDibuvYWPDU+ZhldXPEbaohB1EIAAECD1yBgBRr3U9776jCHsPWFm+edwcB
    x64VuWL5gwKBgGoE99nR96HEacnF4pLMhBadfgJiiLjrLHvhnLTh1slOKxVpAW7o
    x5wE7bDsTOJ/I8Io8wamJLIOiaVyE0zb/rpef9ueA8FvaYSyzCducf8lVzcIwqWh
    UShDglYAQy+yFlyjI36XjmTMUPuM6Q9sCQ5RSNdX2t8WQQm9MZdSZzXhAoGAa0ri
    fKmL+x8mRk08hHDJNjEE2/y3dOa5U8cM/4SKn4R3uvP+UeaDEpCHgtv0H4iXEj8T
    cL6OcqcG7xqG4R5t3jBQOe3N/oR38a6ZNvPcs8/dGpk6T2oSuJ58pXQ1RRpfYgOG
    cCLsZgo+nN2S60xNybs6MLDblB1q4YxaZNgzGPsCgYBTw7TKQDYtH52E45nMIPAe
    VSg3aZQo93Eg8vE7EIBIQcMA7dFA8M0Ar3cehQbgNfCAqYtUv/VABnSevzhRwKUw
    fsnGKZ9TDmcHlAuwtE/+d5z8X/yeItRTvligpH/X1g1nTxMXXP+jSFtcfnvDhcf6
    bIPHkycT8urKQMn2PUQJcg==
    -----END PRIVATE KEY-----
    """
}
