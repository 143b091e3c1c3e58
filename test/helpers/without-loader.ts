/**
 * Starts another program in a test the way its user would: without the test runner's loader.
 *
 * The test runner passes a loader in NODE_OPTIONS to every child process. A user's node does not have it, and the compiler and the
 * linter fail under it.
 */
/** Program and arguments for spawn and spawnSync. */
export function withoutLoader(...command: readonly string[]): [program: string, args: string[]] {
  return ['env', ['-u', 'NODE_OPTIONS', ...command]]
}
