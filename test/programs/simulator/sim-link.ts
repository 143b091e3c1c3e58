/**
 * The state of a simulated node behind the link between the threads of Raft and of the state.
 *
 * Owns: both ends of the link and how long a message takes. Knows nothing of: nodes, rows. Rule: what crosses is cloned and moved as a
 * message between threads is, and arrives in an event of its own, in order.
 */
import type { Logger, StateMachine } from '../../../cluster/base/types.ts'
import { Link, type LinkMessage } from '../../../cluster/raft-thread/link.ts'
import type { Parcel } from '../../../cluster/raft-thread/link-bytes.ts'
import { LinkedState } from '../../../cluster/raft-thread/linked-state.ts'
import type { RaftCalls, StateCalls } from '../../../cluster/raft-thread/raft-calls.ts'
import { type OfTheState, stateService } from '../../../cluster/raft-thread/state-service.ts'

export interface SimLinkParts {
  readonly nodeId: string
  readonly stateMachine: StateMachine
  readonly logger: Logger
  readonly after: (ms: number, kind: string, run: () => void) => void
}

type OfRaft = Pick<RaftCalls, 'stateDamaged' | 'sourceBlock'>

/** How long a message is in flight. ms */
const CROSSING_MS = 0.05

/** The same state machine as the thread of Raft sees it. */
export function stateBehindLink({ nodeId, stateMachine, logger, after }: SimLinkParts): StateMachine {
  const partsTo = (receive: (messages: readonly LinkMessage[]) => void) => ({
    atTurnEnd: (run: () => void) => after(0, 'turn ends', run),
    post: (parcel: Parcel) => {
      const messages = moved(parcel)
      after(CROSSING_MS, 'message crosses', () => receive(messages))
    },
  })
  const ofState = new Link<RaftCalls>(partsTo((messages) => ofRaft.receive(messages)))
  const ofRaft: Link<StateCalls> = new Link<StateCalls>(partsTo((messages) => ofState.receive(messages)))
  const state = { stateMachine, logger, downloads: () => 0, isScarceAt: () => false }
  ofState.serve<OfTheState>(stateService({ nodeId, state, link: ofState, handlers: new Map() }))
  const seen = new LinkedState(ofRaft).stateMachine
  ofRaft.serve<OfRaft>({
    stateDamaged: (error) => {
      seen.onDamaged(error)
      return null
    },
    sourceBlock: ({ install, request }) => seen.sourceBlock(install, request),
  })
  return seen
}

function moved({ content, buffer }: Parcel): readonly LinkMessage[] {
  return structuredClone(content, { transfer: buffer === null ? [] : [buffer] }) as readonly LinkMessage[]
}
