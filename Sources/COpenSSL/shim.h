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

// OSSL_PARAM keeps the pointer of a parameter's name, and Swift lends a String's bytes for one call only: names
// and the names of algorithms are therefore C literals, which live for ever.
static inline OSSL_PARAM copenssl_mac_digest(void) {
  return OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA2-256", 0);
}
static inline OSSL_PARAM copenssl_kdf_digest(void) {
  return OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA2-256", 0);
}
static inline OSSL_PARAM copenssl_kdf_key(void *bytes, size_t count) {
  return OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, bytes, count);
}
static inline OSSL_PARAM copenssl_kdf_context(void *bytes, size_t count) {
  return OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, bytes, count);
}
static inline int copenssl_push_rsa(OSSL_PARAM_BLD *builder, const BIGNUM *n, const BIGNUM *e) {
  return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
         OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1;
}
static inline int copenssl_push_p256(OSSL_PARAM_BLD *builder, const void *point, size_t count) {
  return OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
         OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, count) == 1;
}
