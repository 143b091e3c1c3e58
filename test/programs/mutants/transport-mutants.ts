/**
 * Bugs to put into cluster/transport, which tests must notice: rows `T..`.
 */
import type { Mutant } from './mutant.ts'
import { inFolder, killedByTests, type TestedRow } from './rows.ts'

const rows: readonly TestedRow[] = [
  [
    'T1',
    'a frame of another version is read',
    'frame.ts',
    '  if (version !== FRAME_VERSION) throw new MalformedFrameError(`Frame version ${version} is unknown`)\n',
    '',
    'transport/frame',
  ],
  [
    'T2',
    'the decoder gets unchecked bytes',
    'frame.ts',
    'function unpack(bytes: Uint8Array): unknown {\n  assertPlainMsgpack(bytes)\n',
    'function unpack(bytes: Uint8Array): unknown {\n',
    'transport/frame',
  ],
  [
    'T3',
    'a request for another cluster is answered',
    'peer-identity.ts',
    '  if (cluster !== self.clusterId)\n',
    "  if (cluster === '')\n",
    'transport/peer-refusals',
  ],
  [
    'T4',
    'the acceptance of a peer is not checked',
    'peer-identity.ts',
    '  const objection = rules.judge(claims)\n',
    '  const objection = claims.boot < 0 ? rules.judge(claims) : null\n',
    'transport/peer-refusals',
  ],
  [
    'T5',
    'a batch of any size is kept in memory',
    'peer-server.ts',
    '    if (length > FRAME_BYTES_MAX) return null\n',
    '',
    'transport/peer-refusals',
  ],
  [
    'T6',
    'the queue of a peer has no bound',
    'raft-lane.ts',
    '      this.#queue.length > QUEUE_MESSAGES_MAX ||\n',
    '',
    'transport/raft-lane',
  ],
  [
    'T7',
    'messages from before an outage arrive after it',
    'raft-lane.ts',
    '    this.#dropAll()\n    this.#lastAppend = null\n',
    '    this.#lastAppend = null\n',
    'transport/raft-lane',
  ],
  [
    'T8',
    'the message that opens a read round is left out',
    'raft-lane.ts',
    '    !opensRead &&\n',
    '    (!opensRead || next.entries.length > 0) &&\n',
    'transport/raft-lane',
  ],
  [
    'T9',
    'a member that was replaced continues to speak on its connection',
    'served-connection.ts',
    '    const objection = this.#isStopping() ?? checkAgain(claims, rules)\n    if (objection !== null) return this.#refuseAll(objection)\n    traffic',
    '    const objection = this.#isStopping()\n    if (objection !== null) return this.#refuseAll(objection)\n    traffic',
    'transport/frames-hostile',
  ],
  [
    'T10',
    'a frame of any length is kept in memory',
    'wire-frame.ts',
    '    if (length > PAYLOAD_MAX[type])\n      throw new MalformedFrameError(',
    '    if (length > 2 ** 31)\n      throw new MalformedFrameError(',
    'transport/wire-frame',
  ],
  [
    'T11',
    'a body is sent without credit',
    'frame-body.ts',
    '      this.#credit -= end - at\n',
    '',
    'transport/frame-body',
  ],
  [
    'T12',
    'a body that broke off looks whole',
    'frame-body.ts',
    '    if (this.#failure !== null) {\n      this.#close()\n      throw this.#failure\n    }\n',
    '',
    'transport/frame-body',
  ],
  [
    'T13',
    'bulk data and messages of Raft share a connection',
    'peer-frames.ts',
    "    const lane = this.#lanes[isShort(method) ? 'short' : 'bulk']\n",
    "    const lane = this.#lanes[isShort(method) ? 'bulk' : 'short']\n",
    'transport/frames-lanes',
  ],
]

export const TRANSPORT_MUTANTS: readonly Mutant[] = killedByTests(inFolder('cluster/transport/', rows))
