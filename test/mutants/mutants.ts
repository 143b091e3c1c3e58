/** Every mutant. `npm run mutants` hunts them from seed 1 on; test/mutants/mutants.test.ts by the seeds that are known to kill. */
import { CORE_MUTANTS } from './core-mutants.ts'
import { LOG_MUTANTS } from './log-mutants.ts'
import type { Mutant } from './mutant.ts'
import { NODE_MUTANTS } from './node-mutants.ts'
import { STORE_MUTANTS } from './store-mutants.ts'

/** They prove that the harness can do both: let live and kill. */
export const CANARIES: readonly Mutant[] = [
  {
    id: 'C1',
    bug: 'none: the canary that must live',
    file: 'cluster/raft/raft.ts',
    find: '    const core = this.#core\n    advanceMembership(core)\n',
    replace: '    const core = this.#core\n\n    advanceMembership(core)\n',
    killers: 'core',
    mustLive: true,
  },
  {
    id: 'C2',
    bug: 'nothing works: the canary that must die at once',
    file: 'cluster/raft/raft.ts',
    find: '    const core = this.#core\n    advanceMembership(core)\n',
    replace: "    throw new Error('the canary dies')\n",
    killers: 'core',
  },
]

export const MUTANTS: readonly Mutant[] = [
  ...CORE_MUTANTS,
  ...LOG_MUTANTS,
  ...NODE_MUTANTS,
  ...STORE_MUTANTS,
]
