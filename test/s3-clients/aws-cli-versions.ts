/**
 * Versions, delete markers and locks with `aws s3api`.
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import type { AwsProgram, Json } from './aws-program.ts'
import { digestOfFile, writeLocal } from './base/files.ts'
import type { Stage } from './base/stage.ts'

const DAY_MS = 86_400_000

export async function playVersions(stage: Stage, aws: AwsProgram): Promise<void> {
  const bucket = stage.bucket('versions')
  const object = ['--bucket', bucket, '--key', 'a b.txt']
  const old = await writeLocal(stage.path('old'), 100, 'old')
  const young = await writeLocal(stage.path('young'), 200, 'young')
  let versions: readonly Json[] = []
  await stage.step('put-bucket-versioning, two versions', async (at) => {
    const configuration = ['--versioning-configuration', 'Status=Enabled']
    await aws.api(at, 'create-bucket', '--bucket', bucket)
    await aws.api(at, 'put-bucket-versioning', '--bucket', bucket, ...configuration)
    equal((await aws.api(at, 'get-bucket-versioning', '--bucket', bucket))['Status'], 'Enabled')
    await aws.api(at, 'put-object', ...object, '--body', old.path)
    await aws.api(at, 'put-object', ...object, '--body', young.path)
  })
  await stage.step('list-object-versions, get-object --version-id', async (at) => {
    versions = (await aws.api(at, 'list-object-versions', '--bucket', bucket))['Versions'] as Json[]
    deepEqual(
      versions.map(({ Size, IsLatest }) => [Size, IsLatest]),
      [
        [200, true],
        [100, false],
      ],
    )
    const version = ['--version-id', String(versions[1]?.['VersionId'])]
    await aws.api(at, 'get-object', ...object, ...version, stage.path('old-back'))
    equal(await digestOfFile(stage.path('old-back')), old.sha256)
  })
  await stage.step('a delete marker, and its removal', async (at) => {
    const { DeleteMarker, VersionId } = await aws.api(at, 'delete-object', ...object)
    equal(DeleteMarker, true)
    match(await aws.refused(at, 's3api', 'head-object', ...object), /404/)
    await aws.api(at, 'delete-object', ...object, '--version-id', String(VersionId))
    equal(await stage.native.digest(bucket, 'a b.txt'), young.sha256)
  })
  await stage.step('delete-objects with versions', async (at) => {
    const Objects = versions.map(({ Key, VersionId }) => ({ Key, VersionId }))
    const named = ['--bucket', bucket, '--delete', JSON.stringify({ Objects })]
    const { Deleted } = await aws.api(at, 'delete-objects', ...named)
    equal((Deleted as unknown[]).length, 2)
    await aws.s3(at, 'rb', `s3://${bucket}`)
  })
}

/** Rules that act on nothing yet. */
export async function playLifecycle(stage: Stage, aws: AwsProgram): Promise<void> {
  const bucket = stage.bucket('rules')
  const Rules = [
    { ID: 'tmp', Filter: { Prefix: 'tmp/' }, Status: 'Enabled', Expiration: { Days: 30 } },
    {
      ID: 'old',
      Filter: { And: { Prefix: 'a/', Tags: [{ Key: 'keep', Value: 'no' }], ObjectSizeGreaterThan: 5 } },
      Status: 'Disabled',
      NoncurrentVersionExpiration: { NoncurrentDays: 3, NewerNoncurrentVersions: 2 },
    },
    {
      ID: 'rest',
      Filter: { Prefix: '' },
      Status: 'Enabled',
      Expiration: { ExpiredObjectDeleteMarker: true },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
    },
  ]
  await stage.step('put-bucket-lifecycle-configuration and what it gives back', async (at) => {
    await aws.api(at, 'create-bucket', '--bucket', bucket)
    const given = ['--lifecycle-configuration', JSON.stringify({ Rules })]
    await aws.api(at, 'put-bucket-lifecycle-configuration', '--bucket', bucket, ...given)
    const found = await aws.api(at, 'get-bucket-lifecycle-configuration', '--bucket', bucket)
    deepEqual(found['Rules'], Rules)
  })
  await stage.step('head-object shows the expiration', async (at) => {
    const file = await writeLocal(stage.path('short'), 10, 'short')
    const object = ['--bucket', bucket, '--key', 'tmp/a']
    await aws.api(at, 'put-object', ...object, '--body', file.path)
    match(String((await aws.api(at, 'head-object', ...object))['Expiration']), /rule-id="tmp"/)
  })
  await stage.step('a transition is refused; delete-bucket-lifecycle', async (at) => {
    const Transitions = [{ Days: 1, StorageClass: 'GLACIER' }]
    const rule = { ID: 'cold', Filter: { Prefix: '' }, Status: 'Enabled', Transitions }
    const given = ['--lifecycle-configuration', JSON.stringify({ Rules: [rule] })]
    const put = ['s3api', 'put-bucket-lifecycle-configuration', '--bucket', bucket, ...given]
    match(await aws.refused(at, ...put), /NotImplemented/)
    await aws.api(at, 'delete-bucket-lifecycle', '--bucket', bucket)
    const get = ['s3api', 'get-bucket-lifecycle-configuration', '--bucket', bucket]
    match(await aws.refused(at, ...get), /NoSuchLifecycleConfiguration/)
    await aws.s3(at, 'rm', `s3://${bucket}/tmp/a`)
    await aws.s3(at, 'rb', `s3://${bucket}`)
  })
}

export async function playLocks(stage: Stage, aws: AwsProgram): Promise<void> {
  const bucket = stage.bucket('locks')
  const object = ['--bucket', bucket, '--key', 'kept.txt']
  const file = await writeLocal(stage.path('kept'), 100, 'kept')
  let version = ''
  await stage.step('a bucket with locks and a default retention', async (at) => {
    const Rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } }
    const configuration = { ObjectLockEnabled: 'Enabled', Rule }
    const given = ['--object-lock-configuration', JSON.stringify(configuration)]
    await aws.api(at, 'create-bucket', '--bucket', bucket, '--object-lock-enabled-for-bucket')
    await aws.api(at, 'put-object-lock-configuration', '--bucket', bucket, ...given)
    const found = await aws.api(at, 'get-object-lock-configuration', '--bucket', bucket)
    deepEqual(found, { ObjectLockConfiguration: configuration })
    version = String((await aws.api(at, 'put-object', ...object, '--body', file.path))['VersionId'])
  })
  await stage.step('get-object-retention, put-object-retention', async (at) => {
    const { Retention } = (await aws.api(at, 'get-object-retention', ...object)) as {
      readonly Retention: Json
    }
    equal(Retention['Mode'], 'GOVERNANCE')
    const RetainUntilDate = new Date(Date.now() + 30 * DAY_MS).toISOString()
    const retention = JSON.stringify({ Mode: 'GOVERNANCE', RetainUntilDate })
    await aws.api(at, 'put-object-retention', ...object, '--retention', retention)
  })
  await stage.step('a locked version stays', async (at) => {
    const remove = ['s3api', 'delete-object', ...object, '--version-id', version]
    match(await aws.refused(at, ...remove), /AccessDenied/)
    await aws.api(at, 'put-object-legal-hold', ...object, '--legal-hold', 'Status=ON')
    const found = await aws.api(at, 'get-object-legal-hold', ...object)
    deepEqual(found, { LegalHold: { Status: 'ON' } })
    match(await aws.refused(at, ...remove, '--bypass-governance-retention'), /AccessDenied/)
  })
  await stage.step('the lock is taken off', async (at) => {
    await aws.api(at, 'put-object-legal-hold', ...object, '--legal-hold', 'Status=OFF')
    const bypass = ['--version-id', version, '--bypass-governance-retention']
    await aws.api(at, 'delete-object', ...object, ...bypass)
    await aws.s3(at, 'rb', `s3://${bucket}`)
  })
}
