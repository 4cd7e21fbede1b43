// libcurl with the parts that Swift cannot import: variadic functions, and options that must not be mistyped.

#ifndef BRAMLEY_CCURL_SHIM_H
#define BRAMLEY_CCURL_SHIM_H

#include <curl/curl.h>

// Older ones lack CURLOPT_PROTOCOLS_STR (7.85) and CURLOPT_QUICK_EXIT (7.87).
#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed"
#endif

// CURL_GLOBAL_DEFAULT is a macro of macros.
static inline CURLcode ccurl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

// curl_easy_setopt is variadic: one function for each type of value that an option may have.
static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

// The text is copied by libcurl.
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_receiver(CURL *easy, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

// The list is not copied: it must outlive the transfer.
static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *value) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}

// A POST with a body that libcurl copies. The length goes first, or libcurl would look for a NUL; without any
// pointer it would read standard input.
static inline CURLcode ccurl_set_body(CURL *easy, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POST, 1L);
  if (code != CURLE_OK) return code;
  code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, count > 0 ? (const char *)bytes : "");
}

// curl_easy_getinfo is variadic: one function for each type of answer.
static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_text(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}

// The result of a finished transfer lies in a union.
static inline CURLcode ccurl_message_result(const CURLMsg *message) { return message->data.result; }

// curl_multi_setopt is variadic.
static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

#endif
