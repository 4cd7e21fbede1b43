// OpenSSL 3: libcrypto through the EVP interface only. One importer: Crypto.
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

// EVP_EC_gen and EVP_RSA_gen are macros over a variadic function.
static inline EVP_PKEY *copenssl_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *copenssl_generate_rsa(size_t bits) { return EVP_RSA_gen(bits); }

// OPENSSL_free is a macro that passes file and line.
static inline void copenssl_free(void *pointer) { OPENSSL_free(pointer); }

// BIO_get_mem_data is a macro over BIO_ctrl with a cast.
static inline long copenssl_memory_contents(BIO *bio, char **start) { return BIO_get_mem_data(bio, start); }

// EVP_PKEY_PUBLIC_KEY is a macro over other macros.
static inline int copenssl_public_key_selection(void) { return EVP_PKEY_PUBLIC_KEY; }
