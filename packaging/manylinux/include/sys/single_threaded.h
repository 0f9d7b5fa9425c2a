// libstdc++ of GCC 11 and later asks glibc 2.32 and later whether the process has a single thread,
// to leave out atomic instructions. Older versions of glibc lack this header.
#pragma once
#ifdef __cplusplus
extern "C"
#endif
    char __libc_single_threaded;
