/**
 * Bugs of backups of one tenant, of those under another master key and of verifications: what is in them, what opens them, which rules remove them, what is
 * found damaged.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const ROWS = 'src/backup/run/tenant-rows.ts'
const PRUNE = 'src/backup/retention/prune.ts'
const RESEALED = 'src/backup/reseal/resealed-rows.ts'
const RESEAL = 'backup/reseal'
const VERIFICATION = 'src/backup/read/verification.ts'
const VERIFYING = 'src/workers/backup-verifying.ts'
const FINDS = 'backup/verification'
const DRIVES = 'workers/backup-verifying'
const TENANT_ROWS = 'backup/tenant-rows'
const PRUNES = 'backup/prune'

const rows: readonly TestedRow[] = [
  [
    'BK1',
    'the backup of a tenant has objects of another one',
    ROWS,
    'return this.#if(this.#buckets.has(second))',
    'return this.#if(this.#buckets.size > 0)',
    TENANT_ROWS,
  ],
  [
    'BK2',
    'the backup of a tenant has the access keys of another one',
    ROWS,
    'return this.#if(second === this.tenantId)',
    "return this.#if(second !== '')",
    TENANT_ROWS,
  ],
  [
    'BK3',
    'the sum of deliveries counts those of other tenants',
    ROWS,
    "      case 'outboxTotal':\n        return this.#outbox\n",
    "      case 'outboxTotal':\n        return 'same'\n",
    TENANT_ROWS,
  ],
  [
    'BK4',
    'a deletion of the tenant is forgotten',
    ROWS,
    "if (kind !== 'tenantDeletion' || tenantId !== this.tenantId) return null",
    "if (kind !== 'tenantDeletion' || tenantId === this.tenantId) return null",
    TENANT_ROWS,
  ],
  [
    'BK5',
    'what is left of a bucket that is gone stays out',
    ROWS,
    "['bucket', 'discard', 'discarded', 'hook', 'siteState']",
    "['bucket', 'hook', 'siteState']",
    TENANT_ROWS,
  ],
  [
    'BK6',
    'rules of one tenant remove backups of another scope',
    PRUNE,
    'backups.filter(({ scope }) => scope === tenantId)',
    "backups.filter(({ scope }) => scope === tenantId || scope !== '')",
    PRUNES,
  ],
  [
    'BK7',
    'chunks that a backup of another scope needs are removed',
    PRUNE,
    'kept: [...kept, ...others.map(ofOtherScope)]',
    'kept: others.length < 0 ? others.map(ofOtherScope) : kept',
    PRUNES,
  ],
  [
    'BK8',
    'a tenant that is deleted is backed up',
    'src/state-machine/long-operations/backups.ts',
    "return status === 'active' || status === 'disabled'",
    'return status !== undefined',
    TENANT_ROWS,
  ],
  [
    'BK9',
    'a copy under another master key holds a secret under the former one',
    RESEALED,
    '{ ...row, secret: again(row.secret, hookSecret(row.hookId)) }',
    '{ ...row, secret: row.secret.length === 0 ? again(row.secret, hookSecret(row.hookId)) : row.secret }',
    RESEAL,
  ],
  [
    'BK10',
    'the former key of a tenant is sealed as its present one',
    RESEALED,
    'tenantDataKey(id, formerKey.version)',
    'tenantDataKey(id, dataKeyVersionOf(row))',
    RESEAL,
  ],
  [
    'BK11',
    'a copy under another master key names the former one as the key of its cluster',
    RESEALED,
    '({ masterKeyFingerprint: to.fingerprint })',
    '({ masterKeyFingerprint: to.id })',
    RESEAL,
  ],
  [
    'BK12',
    'chunks of a backup that is listed are removed because the rules do not keep it',
    PRUNE,
    '[...kept.map(({ backup }) => backup.reader), ...removed.map(({ reader }) => reader)]',
    '[...kept.map(({ backup }) => backup.reader), ...removed.slice(0, 0).map(({ reader }) => reader)]',
    PRUNES,
  ],
  [
    'BK13',
    'what the former key of an unfinished exchange seals is called unreadable',
    VERIFICATION,
    'keys.set(id, [...current, ...former])',
    'keys.set(id, former.length < 0 ? former : [...current])',
    FINDS,
  ],
  [
    'BK14',
    'a damaged chunk of a client is whole',
    VERIFICATION,
    'if (sealed === null) return { bytes: 0, damage }',
    'if (sealed === null) return { bytes: 0, damage: this.#ofClients.has(entry.id) ? null : damage }',
    FINDS,
  ],
  [
    'BK15',
    'small bodies whose key no row holds are whole',
    VERIFICATION,
    'return [...damages, ...small.unreadable()]',
    'return [...damages, ...small.unreadable().slice(1)]',
    FINDS,
  ],
  [
    'BK16',
    'every chunk is unreadable where a file of rows is damaged',
    VERIFICATION,
    'this.#areKeysKnown = !isBroken',
    'this.#areKeysKnown = isBroken || !isBroken',
    FINDS,
  ],
  [
    'BK17',
    'a node that takes over forgets what was found',
    VERIFYING,
    'if (name !== NOTHING) opened.found',
    'if (name === NOTHING) opened.found',
    DRIVES,
  ],
  [
    'BK18',
    'a backup that was removed meanwhile is called damaged',
    VERIFYING,
    'if (!(await reader.isListed()))',
    'if (!(await reader.isListed()) && found.rows < 0)',
    DRIVES,
  ],
  [
    'BK19',
    'a verification that was replaced records what it found',
    'src/state-machine/backup-plans/checks.ts',
    'if (!operation.ok) return operation',
    "if (!operation.ok && operationId === '') return operation",
    'state-machine/backup-checks',
  ],
]

export const BACKUP_MUTANTS: readonly Mutant[] = killedByTests(rows)
