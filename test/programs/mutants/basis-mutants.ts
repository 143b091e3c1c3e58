/**
 * Bugs in changes that pass no read barrier: each omits one rule of record 66.
 *
 * Rule: the killers see a node whose rows are behind what others have acknowledged.
 */
import type { Mutant } from './mutant.ts'

const STALE_NODE = { tests: ['test/api/stale-node.test.ts'] }
const BASIS = 'src/state-machine/buckets/basis.ts'
const APPLY = 'src/state-machine/state-machine.ts'
const EDGE = 'src/api/request-basis.ts'

export const BASIS_MUTANTS: readonly Mutant[] = [
  {
    id: 'BA1',
    bug: 'a policy that another node has set does not count for what passes no barrier',
    file: BASIS,
    find: 'found === undefined || view.get(bucketKeys.bucketPolicy(found.id)) !== undefined',
    replace: 'found === undefined',
    killers: STALE_NODE,
  },
  {
    id: 'BA2',
    bug: 'a bucket that was made again counts as the one before',
    file: BASIS,
    find: 'present?.bucketId === bucketId && present.versioning',
    replace: 'present?.versioning',
    killers: STALE_NODE,
  },
  {
    id: 'BA3',
    bug: 'an answer tells of the versioning that a bucket had before',
    file: BASIS,
    find: ' && present.versioning === versioning',
    replace: '',
    killers: STALE_NODE,
  },
  {
    id: 'BA4',
    bug: 'apply does not ask whether the basis holds',
    file: APPLY,
    find: 'if (ended === null && basis !== undefined && ',
    replace: 'if (ended !== null && basis !== undefined && ',
    killers: STALE_NODE,
  },
  {
    id: 'BA5',
    bug: 'apply does not ask for the access key again',
    file: APPLY,
    find: 'caller === undefined ? null : callerFault(view, caller, context.time)',
    replace: 'null',
    killers: STALE_NODE,
  },
  {
    id: 'BA6',
    bug: 'a refusal for rows that are behind is answered without a barrier',
    file: EDGE,
    find: 'if (error instanceof Refusal) return !OF_THIS_NODE.has(error.code)',
    replace: 'if (error instanceof Refusal) return OF_THIS_NODE.has(error.code)',
    killers: STALE_NODE,
  },
  {
    id: 'BA7',
    bug: 'the second attempt reads what has not come of the body yet',
    file: 'src/api/exchange.ts',
    find: 'this.#replayed = this.#kept ?? []',
    replace: 'this.#replayed = []',
    killers: STALE_NODE,
  },
  {
    id: 'BA8',
    bug: 'a basis is proposed to members that do not know it',
    file: EDGE,
    find: 'cluster.membership.stateLevel < BASIS_LEVEL || ',
    replace: '',
    killers: STALE_NODE,
  },
  {
    id: 'BA9',
    bug: 'no request passes a barrier, however many are under way',
    file: EDGE,
    find: '>= WITHOUT_BARRIER_MAX) return false',
    replace: '>= WITHOUT_BARRIER_MAX) return true',
    killers: STALE_NODE,
  },
]
