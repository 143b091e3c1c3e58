/**
 * Bugs in the decisions on buckets and objects: each omits or bends one rule of apply.
 *
 * `A..`; the killer is a seed of the simulator whose nodes apply the state machine of the service.
 */
import type { Mutant } from './mutant.ts'

const ROOM = 'src/state-machine/'

type Row = readonly [id: string, bug: string, file: string, find: string, replace: string]

const PRECONDITIONS: readonly Row[] = [
  [
    'A1',
    'a create-only put replaces an existing object',
    'objects/preconditions.ts',
    '  if (ifNoneMatch !== null && current !== undefined && names(ifNoneMatch, current))\n',
    '  if (ifNoneMatch !== null && current?.etag === null)\n',
  ],
  [
    'A2',
    'a delete does not check its target',
    'objects/objects.ts',
    'conditionFault(draft, deletion)',
    'conditionFault(draft, { ...deletion, ifMatch: null })',
  ],
]

const QUOTAS: readonly Row[] = [
  [
    'A3',
    'the bytes of uploads in progress are not counted in the quota',
    'usage/quota.ts',
    'bytes: usage.logicalBytes + usage.uploadBytes,',
    'bytes: usage.logicalBytes + usage.uploadBytes * 0,',
  ],
  [
    'A4',
    'a quota is checked before the new bytes are added',
    'usage/quota.ts',
    'bytes + more > maxBytes',
    'bytes >= maxBytes',
  ],
]

const LOCKS: readonly Row[] = [
  [
    'A5',
    'a legal hold holds only versions that are under retention as well',
    'versions/locks.ts',
    "  if (legalHold !== false) return 'it is under legal hold'\n",
    "  if (legalHold !== false && retention !== null) return 'it is under legal hold'\n",
  ],
  [
    'A6',
    'retention ends a day early',
    'versions/locks.ts',
    'if (retention.until <= time ||',
    'if (retention.until - 86_400_000 <= time ||',
  ],
  [
    'A7',
    'retention can be shortened',
    'versions/locks.ts',
    '  if (after.until >= before.until) return null\n',
    '  if (after.until >= 0) return null\n',
  ],
  [
    'A8',
    'compliance can be weakened to governance',
    'versions/locks.ts',
    "  if (before.mode === 'COMPLIANCE' && after.mode !== 'COMPLIANCE')\n",
    "  if (before.mode === 'COMPLIANCE' && after.mode === null)\n",
  ],
  [
    'A9',
    'a locked version is deleted by its id',
    'objects/objects.ts',
    '  const locked = lockedFault(found, context, bypassGovernance)\n',
    '  const locked = found.isNull ? lockedFault(found, context, bypassGovernance) : null\n',
  ],
]

const IDEMPOTENCY: readonly Row[] = [
  [
    'A10',
    'a repeated put makes a second version',
    'objects/idempotency.ts',
    '  if (record.fingerprint === requested.fingerprint) return record.object\n',
    '  if (record.fingerprint === requested.fingerprint) return null\n',
  ],
  [
    'A11',
    'an idempotency key answers for another upload',
    'objects/idempotency.ts',
    '  if (record.fingerprint === requested.fingerprint) return record.object\n',
    '  if (record.fingerprint !== null) return record.object\n',
  ],
  [
    'A21',
    'rows expire before they are due',
    'objects/expiry.ts',
    'at <= context.confirmedTime ? draft.get',
    'at > 0 ? draft.get',
  ],
]

const VERSIONS: readonly Row[] = [
  [
    'A12',
    'a suspended bucket makes versions with ids',
    'objects/new-versions.ts',
    "    isNull: bucket.versioning !== 'Enabled',\n",
    "    isNull: bucket.versioning === 'Unversioned',\n",
  ],
  [
    'A13',
    'the marker of a suspended bucket is kept beside its null version',
    'objects/objects.ts',
    "  const isNull = bucket.versioning === 'Suspended'\n",
    "  const isNull = bucket.versioning === 'Unversioned'\n",
  ],
  [
    'A14',
    'the version below the newest does not become the newest',
    'versions/versions.ts',
    '      if (older !== undefined) this.#promote(older)\n',
    '',
  ],
  [
    'A15',
    'a bucket with versions goes back to unversioned',
    'buckets/buckets.ts',
    "  if (versioning === 'Unversioned')\n",
    "  if (versioning === 'Unversioned' && bucket.value.objectLockEnabled)\n",
  ],
]

const BUCKETS: readonly Row[] = [
  [
    'A16',
    'a bucket with delete markers is empty',
    'removal/delete-bucket.ts',
    'versionCount > 0 || deleteMarkerCount > 0 || uploadCount > 0',
    'versionCount > 0 || uploadCount > 0',
  ],
  [
    'A17',
    'a bucket with an upload in progress is empty',
    'removal/delete-bucket.ts',
    'versionCount > 0 || deleteMarkerCount > 0 || uploadCount > 0',
    'versionCount > 0 || deleteMarkerCount > 0',
  ],
  [
    'A18',
    'a bucket is made over another one of its name',
    'buckets/buckets.ts',
    '  if (draft.get(bucketKeys.bucket(tenantId, name)) !== undefined) {\n',
    '  if (draft.get(bucketKeys.bucket(tenantId, name))?.id === name) {\n',
  ],
]

const UPLOADS: readonly Row[] = [
  [
    'A19',
    'an upload that was completed can be completed again',
    'objects/complete-upload.ts',
    '  if (record === undefined) return null\n',
    '  if (record?.parts !== null) return null\n',
  ],
  [
    'A20',
    'an upload that was completed stays',
    'objects/multipart.ts',
    '  draft.remove(objectKeys.upload(bucket.id, key, uploadId))\n',
    '',
  ],
]

const LIFECYCLE: readonly Row[] = [
  [
    'A40',
    'a lifecycle rule removes what it does not name any more',
    'lifecycle/acting.ts',
    '  if (!isDue(rule, subject, context)) return null\n',
    "  if (rule.id === '') return null\n",
  ],
  [
    'A41',
    'a lifecycle rule removes locked versions',
    'lifecycle/acting.ts',
    '    : removeVersion(draft, { ...deletion, found }, context)\n',
    '    : removeVersion(draft, { ...deletion, found }, { ...context, confirmedTime: Infinity })\n',
  ],
]

const rows = [
  ...PRECONDITIONS,
  ...QUOTAS,
  ...LOCKS,
  ...IDEMPOTENCY,
  ...VERSIONS,
  ...BUCKETS,
  ...UPLOADS,
  ...LIFECYCLE,
]

export const OBJECT_MUTANTS: readonly Mutant[] = rows.map(([id, bug, file, find, replace]) => {
  return { id, bug, file: `${ROOM}${file}`, find, replace, killers: 'objects' }
})
