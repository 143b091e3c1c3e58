/** Every mutant. `npm run mutants` hunts them from seed 1 on; test/programs/mutants/hunt-share.ts by the seeds that are known to kill. */
import assert from 'node:assert/strict'
import { AUDIT_MUTANTS } from './audit-mutants.ts'
import { BACKGROUND_MUTANTS } from './background-mutants.ts'
import { BACKUP_MUTANTS } from './backup-mutants.ts'
import { BACKUP_READING_MUTANTS } from './backup-reading-mutants.ts'
import { BASIS_MUTANTS } from './basis-mutants.ts'
import { CATCH_UP_MUTANTS } from './catch-up-mutants.ts'
import { CONTENT_MUTANTS } from './content-mutants.ts'
import { CORE_MUTANTS } from './core-mutants.ts'
import { CUSTOMER_KEY_MUTANTS } from './customer-key-mutants.ts'
import { DISK_MUTANTS } from './disk-mutants.ts'
import { EDGE_THREAD_MUTANTS } from './edge-thread-mutants.ts'
import { GARBAGE_MUTANTS } from './garbage-mutants.ts'
import { KEY_EXCHANGE_MUTANTS } from './key-exchange-mutants.ts'
import { RESTORE_MUTANTS } from './restore-mutants.ts'
import { LIFECYCLE_MUTANTS } from './lifecycle-mutants.ts'
import { SITE_MUTANTS } from './site-mutants.ts'
import { LIMIT_MUTANTS } from './limit-mutants.ts'
import { LOG_IN_MUTANTS } from './log-in-mutants.ts'
import { LOG_MUTANTS } from './log-mutants.ts'
import { MEMBER_MUTANTS } from './member-mutants.ts'
import type { Mutant } from './mutant.ts'
import { NODE_MUTANTS } from './node-mutants.ts'
import { OBJECT_MUTANTS } from './object-mutants.ts'
import { OPERATION_MUTANTS } from './operation-mutants.ts'
import { PROPOSAL_MUTANTS } from './proposal-mutants.ts'
import { RAFT_THREAD_MUTANTS } from './raft-thread-mutants.ts'
import { REBUILD_MUTANTS } from './rebuild-mutants.ts'
import { READS_MUTANTS } from './reads-mutants.ts'
import { ROLLBACK_MUTANTS } from './rollback-mutants.ts'
import { SEALED_MUTANTS } from './sealed-mutants.ts'
import { SKIP_MUTANTS } from './skip-mutants.ts'
import { STORE_MUTANTS } from './store-mutants.ts'
import { TIME_MUTANTS } from './time-mutants.ts'
import { TRANSPORT_MUTANTS } from './transport-mutants.ts'
import { WALK_MUTANTS } from './walk-mutants.ts'

const STEP = '    const core = this.#core\n    advanceConfiguration(core)\n'
const HARMLESS = '    const core = this.#core\n\n    advanceConfiguration(core)\n'
const RAFT = 'cluster/raft/raft.ts'
const A_TEST = { tests: ['test/node/core-loop.test.ts'] }

/** They prove that the harness can do both, with seeds and with tests: let live and kill. */
export const CANARIES: readonly Mutant[] = [
  {
    id: 'C1',
    bug: 'none: the canary that must live',
    file: RAFT,
    find: STEP,
    replace: HARMLESS,
    killers: 'core',
    mustLive: true,
  },
  {
    id: 'C2',
    bug: 'nothing works: the canary that must die at once',
    file: RAFT,
    find: STEP,
    replace: "    throw new Error('the canary dies')\n",
    killers: 'core',
  },
  {
    id: 'C3',
    bug: 'none: the canary that every test must let live',
    file: RAFT,
    find: STEP,
    replace: HARMLESS,
    killers: A_TEST,
    mustLive: true,
  },
  {
    id: 'C4',
    bug: 'nothing works: the canary that a test must kill',
    file: RAFT,
    find: STEP,
    replace: "    throw new Error('the canary dies')\n",
    killers: A_TEST,
  },
]

/** No bugs but mistakes in making one. The hunter must refuse them: each makes a test file fail, and proves nothing. */
export const MISTAKES: readonly Mutant[] = [
  { id: 'E1', bug: 'does not parse', file: RAFT, find: STEP, replace: 'const =\n', killers: A_TEST },
  {
    id: 'E2',
    bug: 'uses a name that does not exist',
    file: RAFT,
    find: STEP,
    replace: '    absent()\n',
    killers: A_TEST,
  },
  { id: 'E3', bug: 'never ends', file: RAFT, find: STEP, replace: '    for (;;);\n', killers: A_TEST },
  {
    id: 'E4',
    bug: 'dies of a test that is not there',
    file: RAFT,
    find: STEP,
    replace: HARMLESS,
    killers: { tests: ['test/programs/mutants/absent.test.ts'] },
  },
]

/** Those of one file beside each other. */
export const MUTANTS_BY_FILE: readonly (readonly Mutant[])[] = [
  CORE_MUTANTS,
  LOG_MUTANTS,
  NODE_MUTANTS,
  TRANSPORT_MUTANTS,
  PROPOSAL_MUTANTS,
  RAFT_THREAD_MUTANTS,
  EDGE_THREAD_MUTANTS,
  TIME_MUTANTS,
  STORE_MUTANTS,
  READS_MUTANTS,
  REBUILD_MUTANTS,
  BACKGROUND_MUTANTS,
  BASIS_MUTANTS,
  CATCH_UP_MUTANTS,
  ROLLBACK_MUTANTS,
  SEALED_MUTANTS,
  SKIP_MUTANTS,
  GARBAGE_MUTANTS,
  OPERATION_MUTANTS,
  OBJECT_MUTANTS,
  AUDIT_MUTANTS,
  MEMBER_MUTANTS,
  CUSTOMER_KEY_MUTANTS,
  LOG_IN_MUTANTS,
  KEY_EXCHANGE_MUTANTS,
  RESTORE_MUTANTS,
  BACKUP_MUTANTS,
  BACKUP_READING_MUTANTS,
  DISK_MUTANTS,
  LIFECYCLE_MUTANTS,
  SITE_MUTANTS,
  WALK_MUTANTS,
  LIMIT_MUTANTS,
  CONTENT_MUTANTS,
]

export const MUTANTS: readonly Mutant[] = MUTANTS_BY_FILE.flat()

export function mutantOf(id: string | undefined): Mutant {
  const mutant = [...CANARIES, ...MISTAKES, ...MUTANTS].find((one) => one.id === id)
  assert(mutant, `there is no mutant '${id ?? ''}'`)
  return mutant
}
