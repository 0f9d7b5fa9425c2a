// What the static libstdc++ takes from versions of glibc that are newer than those a wheel runs on, and what it need not
// bring.
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN char __libc_single_threaded = 0;  // "perhaps several threads" is always right

HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) continue;
  return value;
}

// Only messages about defects name types of C++, which stay mangled in them: what makes them readable is 2 % of the
// module.
HIDDEN char* __cxa_demangle(const char* name, char* buffer, size_t* size, int* status) {
  (void)name, (void)buffer, (void)size;
  if (status) *status = -1;
  return NULL;
}
