/**
 * What a mutant is: one bug, written as a change to one source file.
 *
 * Owns: the shape. Knows nothing of: how it is run. Rule: the product's files hold no trace of a mutant; the switch is the loader
 * of test/programs/mutants/switch.ts, which exists in test runs alone.
 */

/**
 * The source of the proof. `core`: seeds of test/raft/chaos.ts. `objects`, `members`, `disks`, `background`: seeds of the simulator. Otherwise test files: quick
 * ones that need only a temporary directory, or a port in use would pass for a kill.
 */
export type Killers =
  | 'core'
  | 'objects'
  | 'members'
  | 'disks'
  | 'background'
  | { readonly tests: readonly string[] }

export interface Mutant {
  /**
   * Stable; `M..` are the named bugs of real Rafts, `X`, `W`, `N`, `T`, `S`, `G`, `O`, `R`, `A`, `V` and `CT` slips in core, log, driver, transport,
   * store, the collection of garbage, long operations, the rebuild of a state, decisions on objects, changes of the members and the bytes of objects.
   */
  readonly id: string
  /** The bug in a few words. */
  readonly bug: string
  readonly file: string
  /** Must occur exactly once in the file. */
  readonly find: string
  readonly replace: string
  readonly killers: Killers
  /** A canary: it changes nothing that matters, and a harness that kills it kills anything. */
  readonly mustLive?: true
}
