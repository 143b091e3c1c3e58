/**
 * Bugs in what joins the thread of Raft and the thread of the state, and in the watch that moves the lead away from a state that stands still.
 *
 * Rule: each omits one rule of record 74; the killers hold both ends of the link in one thread, over cloned messages.
 */
import type { Mutant } from './mutant.ts'

const LINK_TEST = { tests: ['test/raft-thread/link.test.ts'] }
const RAFT_TEST = { tests: ['test/raft-thread/linked-raft.test.ts'] }
const WATCH_TEST = { tests: ['test/node/state-watch.test.ts'] }
const LINK = 'cluster/raft-thread/link.ts'
const STREAMS = 'cluster/raft-thread/link-streams.ts'
const RAFT = 'cluster/raft-thread/linked-raft.ts'
const WATCH = 'cluster/node/state/state-watch.ts'

export const RAFT_THREAD_MUTANTS: readonly Mutant[] = [
  {
    id: 'RT1',
    bug: 'calls under way wait indefinitely when the other thread ends',
    file: LINK,
    find: 'for (const { reject } of this.#pending.values()) reject(error)',
    replace: '',
    killers: LINK_TEST,
  },
  {
    id: 'RT2',
    bug: 'a caller that leaves is not seen on the other thread',
    file: LINK,
    find: 'return this.#cancellable.get(message.id)?.abort()',
    replace: 'return',
    killers: LINK_TEST,
  },
  {
    id: 'RT3',
    bug: 'a body that breaks arrives as a shorter one',
    file: STREAMS,
    find: 'return this.#onEnd(stream, deserializeError(message.error))',
    replace: 'return this.#onEnd(stream, null)',
    killers: LINK_TEST,
  },
  {
    id: 'RT4',
    bug: 'a source sends as fast as it can, not as fast as it is read',
    file: STREAMS,
    find: 'this.#credit -= value.length',
    replace: '',
    killers: LINK_TEST,
  },
  {
    id: 'RT5',
    bug: 'taken bytes are not reported, so a long body stops',
    file: STREAMS,
    find: 'this.#report(this.#taken)',
    replace: '',
    killers: LINK_TEST,
  },
  {
    id: 'RT6',
    bug: 'a source does not learn that its reader left',
    file: STREAMS,
    find: 'return this.#outgoing.get(stream)?.stop()',
    replace: 'return',
    killers: LINK_TEST,
  },
  {
    id: 'RT7',
    bug: 'a thread that says nothing counts as ready indefinitely',
    file: RAFT,
    find: 'if (silentMs <= SILENT_TIMEOUTS * options.electionTimeoutMs)',
    replace: 'if (silentMs >= 0)',
    killers: RAFT_TEST,
  },
  {
    id: 'RT8',
    bug: 'a proposal under way when the thread ends is answered as one that was not made',
    file: RAFT,
    find: 'if (!link.isClosed) throw cause',
    replace: 'throw cause',
    killers: RAFT_TEST,
  },
  {
    id: 'RT9',
    bug: 'a read joins the barrier of an earlier turn, which may have started before it',
    file: RAFT,
    find: 'if (this.#barrier?.turn !== link.turn)',
    replace: 'if (this.#barrier === null)',
    killers: RAFT_TEST,
  },
  {
    id: 'RT10',
    bug: 'a thread that ends by itself is no failure of the node',
    file: RAFT,
    find: 'if (this.#stopped === null) this.#reportFailure(error)',
    replace: '',
    killers: RAFT_TEST,
  },
  {
    id: 'RT11',
    bug: 'a leader whose state stands still keeps the lead',
    file: WATCH,
    find: '    offerLead(target.nodeId)\n',
    replace: '',
    killers: WATCH_TEST,
  },
  {
    id: 'RT12',
    bug: 'the lead is offered to a voter whose state is no further',
    file: WATCH,
    find: 'index > (target?.applied ?? applied)',
    replace: 'index >= (target?.applied ?? applied)',
    killers: WATCH_TEST,
  },
  {
    id: 'RT13',
    bug: 'a pause of the process counts as a stall of the state',
    file: WATCH,
    find: "kind === 'tickGap' || ",
    replace: '',
    killers: WATCH_TEST,
  },
  {
    id: 'RT14',
    bug: 'a state that applies slowly counts as one that stands still',
    file: WATCH,
    find: ' || applied !== this.#applied',
    replace: '',
    killers: WATCH_TEST,
  },
  {
    id: 'RT15',
    bug: 'the lead is offered at each tick',
    file: WATCH,
    find: ' && now >= this.#nextOffer',
    replace: '',
    killers: WATCH_TEST,
  },
]
