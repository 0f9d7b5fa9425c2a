/* Whether the configuration of an interpreter describes the machine that is compiled for. Wheels for
   another machine are compiled with the headers of an interpreter of this one; of the same version of
   CPython, those headers differ in pyconfig.h alone. scripts/wheels.py compiles this file for the target. */
#include <pyconfig.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <wchar.h>

_Static_assert(SIZEOF_SHORT == sizeof(short), "short");
_Static_assert(SIZEOF_INT == sizeof(int), "int");
_Static_assert(SIZEOF_LONG == sizeof(long), "long");
_Static_assert(SIZEOF_LONG_LONG == sizeof(long long), "long long");
_Static_assert(SIZEOF_LONG_DOUBLE == sizeof(long double), "long double");
_Static_assert(SIZEOF_FLOAT == sizeof(float), "float");
_Static_assert(SIZEOF_DOUBLE == sizeof(double), "double");
_Static_assert(SIZEOF__BOOL == sizeof(_Bool), "_Bool");
_Static_assert(SIZEOF_VOID_P == sizeof(void *), "void *");
_Static_assert(SIZEOF_SIZE_T == sizeof(size_t), "size_t");
_Static_assert(SIZEOF_WCHAR_T == sizeof(wchar_t), "wchar_t");
_Static_assert(SIZEOF_PID_T == sizeof(pid_t), "pid_t");
_Static_assert(SIZEOF_OFF_T == sizeof(off_t), "off_t");
_Static_assert(SIZEOF_TIME_T == sizeof(time_t), "time_t");
_Static_assert(ALIGNOF_LONG == _Alignof(long), "alignment of long");
_Static_assert(ALIGNOF_SIZE_T == _Alignof(size_t), "alignment of size_t");
#ifdef WORDS_BIGENDIAN
_Static_assert(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, "order of bytes");
#else
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "order of bytes");
#endif
