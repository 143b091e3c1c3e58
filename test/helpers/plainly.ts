/**
 * How a test starts another program as its user would.
 *
 * The test runner gives a loader to every process that its own processes start. No user's node has it, and the compiler
 * and the linter fail under it.
 */
/** Program and arguments for spawn and spawnSync. */
export function plainly(...command: readonly string[]): [program: string, args: string[]] {
  return ['env', ['-u', 'NODE_OPTIONS', ...command]]
}
