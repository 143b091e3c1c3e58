/**
 * Bugs of a restore into the running cluster: what a step may do, what is found in a backup, which bytes count, what is compared.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const STEPS = 'src/state-machine/restoring/restoring.ts'
const VERSIONS = 'src/state-machine/restoring/restored-versions.ts'
const ROWS = 'src/backup/restore-into/backup-rows.ts'
const WALK = 'src/backup/restore-into/version-walk.ts'
const BODIES = 'src/backup/restore-into/source-bodies.ts'
const COMPARISON = 'src/backup/restore-into/comparison.ts'
const STATE = 'state-machine/restoring'
const FOUND = 'backup/restore-into-rows'
const BYTES = 'backup/restore-into-bodies'

const rows: readonly TestedRow[] = [
  [
    'TL1',
    'a client changes a bucket that a restore fills',
    'src/state-machine/buckets/find-bucket.ts',
    '|| bucket.value.restoring === undefined) return bucket',
    "|| bucket.value.restoring !== '') return bucket",
    STATE,
  ],
  [
    'TL2',
    'a restore that was given up keeps its bucket closed',
    'src/state-machine/long-operations/operations.ts',
    '  freeRestored(draft, operation)\n',
    '',
    STATE,
  ],
  [
    'TL3',
    'a client makes a bucket that the restore is about to make',
    'src/state-machine/buckets/buckets.ts',
    'if (tenant.value.restoring !== undefined)',
    "if (tenant.value.restoring === '')",
    STATE,
  ],
  [
    'TL4',
    'a restored version exceeds the quota',
    VERSIONS,
    '    growthFault(draft, { bucket, chain, item, bytes: size }, context) ??\n',
    '',
    STATE,
  ],
  [
    'TL5',
    'the parts of one step share an id',
    'src/state-machine/objects/multipart.ts',
    'versionIdAt(context, item)',
    'versionIdAt(context)',
    STATE,
  ],
  [
    'TL6',
    'a lock does not come back',
    VERSIONS,
    '    retention,\n    legalHold,\n',
    '    retention: null,\n    legalHold,\n',
    STATE,
  ],
  [
    'TL7',
    'a restore goes into a bucket that it did not make',
    STEPS,
    '|| bucket.value.restoring === operationId) return bucket',
    "|| bucket.value.restoring !== '') return bucket",
    STATE,
  ],
  [
    'TL8',
    'a prune removes what a restore still reads',
    'src/state-machine/long-operations/backups.ts',
    "backupPrune: ['backup', 'backupPrune', 'backupRestore']",
    "backupPrune: ['backup', 'backupPrune']",
    STATE,
  ],
  [
    'TL9',
    'an object is assembled of fewer parts than it had',
    VERSIONS,
    'if (parts.length !== count || upload.partCount !== count || bytes !== 0)',
    'if (parts.length > count)',
    STATE,
  ],
  [
    'TL10',
    'a bucket that is whole stays closed',
    'src/state-machine/restoring/restored-settings.ts',
    '  draft.put(bucketKeys.bucket(tenantId, name), free)\n',
    '',
    STATE,
  ],
  [
    'TL11',
    'the object of a key is made before its older versions',
    WALK,
    '!comesBefore(version.key, object.key)',
    'comesBefore(object.key, version.key)',
    FOUND,
  ],
  [
    'TL12',
    'the first row of a file is not found',
    ROWS,
    'await this.#firstOf(middle), key) <= 0',
    'await this.#firstOf(middle), key) < 0',
    FOUND,
  ],
  [
    'TL13',
    'a version is restored twice after another node continues',
    WALK,
    'after === null || after.isCurrent ? object',
    'after === null ? object',
    FOUND,
  ],
  [
    'TL14',
    'bytes come back under the id of others',
    BODIES,
    'if (this.idOf(plain) !== piece.id)',
    "if (this.idOf(plain) === '')",
    BYTES,
  ],
  [
    'TL15',
    'a target that is away makes versions missing',
    BODIES,
    'if (what === null) throw cause',
    'if (what === null && row.size < 0) throw cause',
    BYTES,
  ],
  [
    'TL16',
    'other bytes in the cluster are not noticed',
    COMPARISON,
    'source.bodies.idOf(await read.take(piece.size)) !== piece.id',
    "source.bodies.idOf(await read.take(piece.size)) === ''",
    BYTES,
  ],
  [
    'TL17',
    'a version with other tags is taken for that of the backup',
    COMPARISON,
    'return isDeepStrictEqual(factsOf(version, tenant), factsOf(twin, tenant))',
    'return factsOf(version, tenant).etag === factsOf(twin, tenant).etag',
    BYTES,
  ],
  [
    'TL18',
    'a version that did not come back hides the rest of its key',
    COMPARISON,
    '(isTwin ? twin.older : twin?.versionId)',
    '(isTwin ? twin.older : twin?.older)',
    BYTES,
  ],
]

export const RESTORE_MUTANTS: readonly Mutant[] = killedByTests(rows)
