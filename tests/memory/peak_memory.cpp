// Runs a command, its standard output thrown away, and prints the largest resident set it had, in bytes,
// its wait status, and the microseconds of processor time that it took. A process inherits the peak of the
// one it was forked from: hence this small one.

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  if (posix_spawn(&child, arguments[1], &actions, nullptr, arguments + 1, environ) != 0) return 2;
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return 2;
  const long seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
  const long microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  std::printf("%ld %d %ld\n", usage.ru_maxrss * 1024, status, 1'000'000 * seconds + microseconds);
  return 0;
}
