/**
 * Bugs in what joins an edge thread and the thread of the state.
 *
 * Rule: each omits one rule of record 102.
 */
import type { Mutant } from './mutant.ts'
import { inFolder, killedByTests } from './rows.ts'

const ROWS = inFolder('src/api/edge-threads/', [
  [
    'ET1',
    'an answer is sent as fast as it is read, not as fast as its client takes it',
    'linked-response.ts',
    'if (this.#inFlight > CREDIT_BYTES) this.#waiters.push(taken)',
    'if (this.#inFlight < 0) this.#waiters.push(taken)',
    'api/linked-pair',
  ],
  [
    'ET2',
    'a body that nothing reads fills the memory of the state',
    'linked-request.ts',
    '|| !this.#wasAsked)',
    ')',
    'api/linked-pair',
  ],
  [
    'ET3',
    'a body whose connection ends is a shorter body',
    'linked-request.ts',
    "this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))",
    'this.push(null)',
    'api/linked-pair',
  ],
  [
    'ET4',
    'an answer that its client left counts as sent',
    'linked-response.ts',
    'this.writableFinished = isFinished',
    'this.writableFinished = true',
    'api/linked-pair',
  ],
  [
    'ET5',
    'bytes of an answer change after they were written',
    'linked-response.ts',
    'bytes === this.#owned ? bytes : new Uint8Array(bytes)',
    'bytes',
    'api/linked-pair',
  ],
  [
    'ET6',
    'two nodes share one address without a word',
    'linked-server.ts',
    'trial.listen({ host, port }',
    'trial.listen({ host, port, reusePort: true }',
    'api/edge-threads',
  ],
])

export const EDGE_THREAD_MUTANTS: readonly Mutant[] = killedByTests(ROWS)
