/**
 * Bugs in the path of a proposal: its acceptance, its retries, and that it takes effect once.
 *
 * `M..` is of the list of named bugs in RELIABILITY.md, `N..` are slips.
 */
import type { Mutant } from './mutant.ts'
import { inFolder, killedByTests, type TestedRow } from './rows.ts'

const rows: readonly TestedRow[] = [
  [
    'M15',
    'a proposal accepted by an old leader counts under the new one',
    'proposals/proposals.ts',
    '    if (leaderView.term > outcome.term) this.#retryLater(pending, now)\n',
    '',
    'node/proposals',
  ],
  [
    'M16',
    'a leader takes proposals however far it lags behind the commit index',
    'proposals/apply-flow.ts',
    '    if (own.entries > limits.unappliedEntriesMax || own.bytes > limits.unappliedBytesMax) return true\n',
    '    if (own.entries < 0) return true\n',
    'node/disk-watch',
  ],
  [
    'M28',
    'a proposal that was sent to two leaders takes effect twice',
    'base/proposal-sessions.ts',
    "    if (has(session, sequence)) return 'duplicate'\n",
    '',
    'node/sessions',
  ],
  [
    'N1',
    'a refused proposal is not tried again',
    'proposals/proposals.ts',
    '      pending.lastRefusal = outcome.reason\n      this.#retryLater(pending, now)\n',
    '      pending.lastRefusal = outcome.reason\n',
    'node/snapshots',
  ],
  [
    'N2',
    'a proposal that a dead leader accepted is not retried',
    'proposals/proposals.ts',
    "      if (pending.state === 'accepted' && pending.acceptedTerm < term) pending.state = 'queued'\n",
    '',
    'node/node',
  ],
  [
    'N3',
    'a proposal that may be in a log is called refused when the node stops',
    'proposals/proposals.ts',
    'this.#fail(pending, mayBeLogged(pending) ? unknown : why)',
    'this.#fail(pending, pending.attempts < 0 ? unknown : why)',
    'node/node',
  ],
  [
    'N4',
    'a lost answer counts as a refusal',
    'proposals/proposals.ts',
    "    if (kind === 'unknown') pending.mayBeLogged = true\n",
    '',
    'node/node',
  ],
  [
    'N5',
    'proposals are taken after the end',
    'proposals/proposals.ts',
    '    if (this.#closed) throw this.#closed\n',
    '',
    'node/proposals',
  ],
  [
    'N6',
    'the proposals of a node have no bound',
    'proposals/proposals.ts',
    '      this.#pending.size >= proposalsPendingMax ||\n',
    '',
    'node/node',
  ],
  [
    'N7',
    'the queue of a leader has no bound',
    'proposals/batcher.ts',
    'this.#queue.length >= this.#limits.batcherQueueMax',
    'this.#queue.length < 0',
    'node/batcher',
  ],
  [
    'N8',
    'proposals are taken although the disk is full',
    'proposals/proposal-path.ts',
    "room.refusal(need) === null ? flow.objection : 'diskFull'",
    'flow.objection',
    'node/disk-watch',
  ],
  [
    'N47',
    'the next entry does not wait for what its turn still brings',
    'proposals/proposal-path.ts',
    'if (this.#parts.atTurnEnd === undefined) this.#sealAll()',
    'if (this.#batcher.isDue) this.#sealAll()',
    'node/proposal-path',
  ],
  [
    'N9',
    'a process of an older start takes effect',
    'base/proposal-sessions.ts',
    "    if (session && session.boot > boot) return 'stale'\n",
    '',
    'node/sessions',
  ],
  [
    'N10',
    'another data directory under the same name takes effect',
    'base/proposal-sessions.ts',
    "    if (session && session.incarnation !== incarnation) return 'foreign'\n",
    '',
    'node/sessions',
  ],
  [
    'N11',
    'a new process is taken for a repeat of the one before',
    'base/proposal-sessions.ts',
    '    if (!session || session.boot < boot) {\n',
    '    if (!session) {\n',
    'node/sessions',
  ],
  [
    'N12',
    'answered sequences are kept forever',
    'base/proposal-sessions.ts',
    '    if (ackedBelow > session.ackedBelow) forget(session, ackedBelow)\n',
    '',
    'node/sessions',
  ],
  [
    'N39',
    'a node proposes in the name of another',
    'proposals/propose-handler.ts',
    "    if (foreign) throw new PeerRefusedError('bad_request', 'A node proposes in its own name only')\n",
    '',
    'node/proposals',
  ],
]

export const PROPOSAL_MUTANTS: readonly Mutant[] = killedByTests(inFolder('cluster/node/', rows))
