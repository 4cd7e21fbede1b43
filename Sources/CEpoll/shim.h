// epoll(7), which Swift's Glibc module leaves out.
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define CEPOLL_BATCH 256

static inline int cepoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int cepoll_watch(int set, int descriptor, uint32_t name, int again, int writing) {
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data = {.u64 = name}};
  return epoll_ctl(set, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
}

// The names of the descriptors that are ready, at most CEPOLL_BATCH; a timeout in nanoseconds, which epoll_wait(2)
// would round to milliseconds.
static inline int cepoll_wait(int set, uint32_t *names, int64_t nanoseconds) {
  struct epoll_event events[CEPOLL_BATCH];
  struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int count = epoll_pwait2(set, events, CEPOLL_BATCH, &timeout, 0);
  for (int index = 0; index < count; index++) names[index] = (uint32_t)events[index].data.u64;
  return count;
}
