/**
 * Bugs in naming, planning and skipping an entry that no node can apply: `SK..`, in any component.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const NODE = 'cluster/node/'
const RECOVERY = 'cluster/quorum-recovery/'

const rows: readonly TestedRow[] = [
  [
    'SK1',
    'a skipped command takes effect where it was proposed again',
    `${NODE}state/applier.ts`,
    '      for (const proposal of entry.proposals) this.#sessions.admit(proposal)\n',
    '',
    'node/entry-skips',
  ],
  [
    'SK2',
    'time stands still over a skipped entry',
    `${NODE}state/applier.ts`,
    '      this.#time.advance(entry.time, this.#featureLevel)\n',
    '',
    'node/entry-skips',
  ],
  [
    'SK3',
    'an order skips another entry of its index',
    `${NODE}base/entry-skips.ts`,
    'index === entry.index && term === entry.term',
    'index === entry.index && term >= 0',
    'node/entry-skips',
  ],
  [
    'SK4',
    'an order skips an entry with another content',
    `${NODE}base/entry-skips.ts`,
    'skip.digest === digestOfEntry(entry)',
    "skip.digest !== ''",
    'node/entry-skips',
  ],
  [
    'SK5',
    'a change of the members is skipped',
    `${NODE}state/applier.ts`,
    "    if (kind === 'configuration') batches.push(",
    "    if (kind === 'configuration' && (this.#parts.skips ?? []).length === 0) batches.push(",
    'node/entry-skips',
  ],
  [
    'SK6',
    'an unreadable entry keeps those before it from being applied',
    `${NODE}state/entry-costs.ts`,
    '      return Number.POSITIVE_INFINITY\n',
    '      return 0\n',
    'node/entry-skips',
  ],
  [
    'SK7',
    'a raise of the level may be skipped',
    `${NODE}state/apply-failure.ts`,
    "kind === 'command' && (decodedOrNull(entry.data)?.level ?? null) === null",
    "kind === 'command'",
    'node/entry-skips',
  ],
  [
    'SK8',
    'a voter is left out of account',
    `${RECOVERY}skip-plan.ts`,
    '    ...accountRefusals(winner, reports, dead),\n',
    '',
    'quorum-recovery/skip-plan',
  ],
  [
    'SK9',
    'an entry is skipped that a minority holds',
    `${RECOVERY}skip-plan.ts`,
    '  if (isOnMajority && later.length === 0) return []\n',
    '  if (later.length === 0) return []\n',
    'quorum-recovery/skip-plan',
  ],
  [
    'SK10',
    'a log without the entry that could win an election is no obstacle',
    `${RECOVERY}skip-plan.ts`,
    '  if (isOnMajority && later.length === 0) return []\n',
    '  if (isOnMajority) return []\n',
    'quorum-recovery/skip-plan',
  ],
  [
    'SK11',
    'a node that has applied the entry counts as one that lags',
    `${RECOVERY}skip-plan.ts`,
    "  if (applied.index >= index) return 'applied'\n",
    "  if (applied.index >= index) return 'behind'\n",
    'quorum-recovery/skip-plan',
  ],
  [
    'SK12',
    'states that differ are skipped over',
    `${RECOVERY}skip-plan.ts`,
    '    ...stateRefusals([...holders, ...behind]),\n',
    '',
    'quorum-recovery/skip-plan',
  ],
  [
    'SK13',
    'an entry is ordered on a state that is not that of the plan',
    `${RECOVERY}skip-order.ts`,
    'own.checksum !== before.checksum',
    "own.checksum === ''",
    'quorum-recovery/skip-order',
  ],
  [
    'SK14',
    'a node that cannot be compared is ordered all the same',
    `${RECOVERY}skip-order.ts`,
    "  if (compared === 'unknown') throw incomparable(nodeId, index)\n",
    '',
    'quorum-recovery/skip-order',
  ],
  [
    'SK15',
    'two plans stand for one entry in one directory',
    `${RECOVERY}skip-order.ts`,
    '  if (known !== undefined) throw orderedByAnother(known.planId)\n',
    '',
    'quorum-recovery/skip-order',
  ],
  [
    'SK16',
    'an order leaves the file before its entry is applied',
    `${RECOVERY}skip-file.ts`,
    'skips.filter(({ index }) => index <= appliedIndex)',
    'skips.filter(({ index }) => index >= 0)',
    'quorum-recovery/skip-order',
  ],
]

export const SKIP_MUTANTS: readonly Mutant[] = killedByTests(rows)
