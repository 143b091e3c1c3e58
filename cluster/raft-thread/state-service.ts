/**
 * What the thread of Raft asks of the half of the state, answered on the thread of the state.
 *
 * Owns: the snapshots that Raft reads, the handlers of calls of peers. Knows nothing of: Raft, rows, blobs.
 * Rule: it runs what StatePort says and adds nothing.
 */
import type { Logger, StateCut, StateMachine } from '../base/types.ts'
import type { StatePort } from '../raft-half/raft-port.ts'
import type { CallHandler, OutgoingAnswer } from '../transport/transport.ts'
import { type HandlerContext, runHandler } from '../transport/run-handler.ts'
import { sentBody } from './link-body.ts'
import type { HandlersOf, Link } from './link.ts'
import { serializeError, deserializeError } from './link-errors.ts'
import type { LogCall, RaftCalls, StateCalls } from './raft-calls.ts'

export interface StateServiceParts {
  readonly nodeId: string
  readonly state: StatePort
  readonly link: Link<RaftCalls>
  readonly handlers: ReadonlyMap<string, CallHandler>
}

/** The part of StateCalls that does not need to know what Raft said. */
export type OfTheState = Omit<StateCalls, 'publishRaft' | 'serving' | 'failed'>

export function stateService(parts: StateServiceParts): HandlersOf<OfTheState> {
  const { state, link } = parts
  const { logger } = state
  return {
    ...stateMachineService(state.stateMachine, link),
    peerServe: (call) => servePeer(parts, call),
    log: (call) => writeLine(logger, call),
  }
}

type OfTheStateMachine = Omit<OfTheState, 'peerServe' | 'log'>

function stateMachineService(machine: StateMachine, link: Link<RaftCalls>): HandlersOf<OfTheStateMachine> {
  /** Bounded by the snapshots that Raft serves. */
  const cuts = new Map<number, StateCut>()
  let lastCut = 0
  return {
    async openState() {
      const opened = await machine.open(
        (error) => void link.call('stateDamaged', serializeError(error)).catch(() => null),
      )
      return { opened, checksum: machine.checksum() }
    },
    async apply(batch) {
      const replies = await machine.apply(batch)
      return { replies, checksum: machine.checksum() }
    },
    checkpoint: () => machine.checkpoint().then(() => null),
    verify: () => machine.verify(),
    quarantine: (why) => machine.quarantine(why).then(() => null),
    async snapshot() {
      const cut = await machine.snapshot()
      lastCut += 1
      cuts.set(lastCut, cut)
      return { cut: lastCut, record: cut.record, checksum: cut.checksum }
    },
    cutBlock({ cut, request }) {
      const found = cuts.get(cut)
      if (found === undefined) throw new Error(`Snapshot ${cut} is not open`)
      return found.block(request)
    },
    async cutRelease(cut) {
      const found = cuts.get(cut)
      cuts.delete(cut)
      await found?.release()
      return null
    },
    async install({ install, record, checksum }) {
      const installed = await machine.install({
        record,
        checksum,
        block: (request) => link.call('sourceBlock', { install, request }),
      })
      return { record: installed, checksum: machine.checksum() }
    },
    closeState: () => machine.close().then(() => null),
  }
}

async function servePeer(
  { nodeId, state, link, handlers }: StateServiceParts,
  { from, method, header, stream }: StateCalls['peerServe']['input'],
): Promise<StateCalls['peerServe']['output']> {
  const body = link.receiveStream(stream)
  const context: HandlerContext = {
    self: nodeId,
    method,
    handler: handlers.get(method),
    logger: state.logger,
  }
  let answer: OutgoingAnswer | null = null
  try {
    answer = await runHandler(context, { from, header, body })
    return { header: answer.header, body: sentBody(link, answer.body) }
  } finally {
    // An answer that streams may still read the request.
    if (answer === null || answer.body === undefined || answer.body instanceof Uint8Array)
      void body[Symbol.asyncIterator]().return?.()
  }
}

function writeLine(logger: Logger, { level, bindings, fields, errors, message }: LogCall): null {
  const again = Object.entries(errors).map(([name, error]) => [name, deserializeError(error)] as const)
  logger[level]({ ...bindings, ...fields, ...Object.fromEntries(again) }, message)
  return null
}
