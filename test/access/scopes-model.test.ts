/**
 * Random scopes and operations against a model of the rights that parses the text of the scopes itself. [decisions 14]
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { authorize, canSeeBucket } from '../../src/access/authorize.ts'
import type { AccessKeyPrincipal } from '../../src/access/base/principal.ts'
import { parseScopes } from '../../src/access/scopes.ts'
import { Refusal } from '../../src/base/refusal.ts'
import type { Operation } from '../../src/operations/base/operation.ts'
import { KEY_OPERATIONS } from '../helpers/operations.ts'

const RUNS = 6000
const NO_POLICIES = { get: () => undefined }

/** By the sentences of decisions 14 and 17: the verbs, and whether a scope with a prefix is enough. */
const READS = /^(get|head|list)/
const DELETES = ['deleteObject', 'batchDeleteObjects', 'deleteBucket']
const POLICIES = ['getBucketPolicy', 'getBucketPolicyStatus', 'setBucketPolicy', 'deleteBucketPolicy']
const LIFECYCLE = [
  'getBucketLifecycle',
  'setBucketLifecycle',
  'deleteBucketLifecycle',
  'previewBucketLifecycle',
]
const REPLICATION = [
  'getBucketReplication',
  'setBucketReplication',
  'deleteBucketReplication',
  'getReplicationStatus',
  'resyncBucketReplication',
  'retryBucketReplication',
  'compareBucketReplication',
]
const ADMIN = [
  'setBucketCORS',
  'deleteBucketCORS',
  'setBucketObjectLock',
  ...LIFECYCLE,
  ...REPLICATION,
  ...POLICIES,
]
const OPEN = ['healthz', 'readyz', 'getOpenAPI', 'createToken', 'preflightSigned']
const BY_URL = ['getSigned', 'putSigned']
const SETS_HOOKS = ['setBucketNotifications', 'deleteBucketNotifications']
const HOOKS = [...SETS_HOOKS, 'listNotificationDeliveries', 'redeliverNotification', 'testNotification']
const WITHOUT_PREFIX = [
  ...HOOKS,
  'createBucket',
  'getBucketUsage',
  'setBucketVersioning',
  'deleteBucket',
  'setBucketTags',
  'deleteBucketTags',
  'confirmBucketEncryption',
  'confirmPublicAccessBlock',
  'confirmBucketOwnership',
  'confirmBucketAcl',
  ...ADMIN,
]
const OF_THE_BUCKET = [
  'getBucket',
  'getBucketVersioning',
  'getBucketCORS',
  'getBucketObjectLock',
  'getBucketTags',
  'getBucketLocation',
  'getBucketEncryption',
  'getPublicAccessBlock',
  'getBucketOwnership',
  'getBucketAcl',
  'getBucketPayer',
  'getBucketNotifications',
  'batchDeleteObjects',
]

interface Target {
  readonly bucket: string
  readonly key: string
}

function verbsOf(operationId: string): readonly string[] {
  if (ADMIN.includes(operationId)) return ['admin']
  if (DELETES.includes(operationId)) return ['delete']
  if (SETS_HOOKS.includes(operationId)) return ['read', 'write']
  return READS.test(operationId) ? ['read'] : ['write']
}

function allowedByModel(text: string, operationId: string, { bucket, key }: Target): boolean {
  if (OPEN.includes(operationId)) return true
  // What it opens is checked separately; and a bearer token opens nothing that needs a URL.
  if (operationId === 'signURL' || operationId === 'createTemporaryToken') return true
  if (BY_URL.includes(operationId)) return false
  return verbsOf(operationId).every((verb) => opensByVerb(verb, text, operationId, { bucket, key }))
}

function opensByVerb(verb: string, text: string, operationId: string, { bucket, key }: Target): boolean {
  return text.split(',').some((entry) => {
    const [, given = entry, scopeBucket = '*', prefix = ''] =
      /^op=(\w+):bucket=(.*?):prefix=(.*)$/.exec(entry) ?? []
    if (given !== verb) return false
    if (operationId === 'listBuckets') return true
    if (scopeBucket !== '*' && scopeBucket !== bucket) return false
    if (WITHOUT_PREFIX.includes(operationId)) return prefix === ''
    return OF_THE_BUCKET.includes(operationId) || key.slice(0, prefix.length) === prefix
  })
}

const verb = fc.constantFrom('read', 'write', 'delete', 'admin')
const buckets = fc.constantFrom('photos', 'photos2', 'films')
const prefixes = fc.constantFrom('', 'i', 'in/', 'in/a', 'In/', 'in/:=', 'ü/')
const keys = fc.constantFrom('', 'i', 'in', 'in/', 'in/a', 'in/ab', 'in/:=x', 'out/a', 'ü/x', 'xin/a')
const bare = fc.uniqueArray(verb, { minLength: 1 }).map((verbs) => verbs.join())
const entry = fc
  .tuple(verb, fc.oneof(fc.constant('*'), buckets), prefixes)
  .map(([op, bucket, prefix]) => `op=${op}:bucket=${bucket}:prefix=${prefix}`)
const scopes = fc.oneof(
  bare,
  fc.array(entry, { minLength: 1, maxLength: 4 }).map((entries) => entries.join()),
)

function principalWith(text: string): AccessKeyPrincipal {
  return {
    kind: 'accessKey',
    accessKeyId: 'AKTEST',
    tenantId: 'acme',
    keyVersion: 1,
    scopes: parseScopes(text),
    signedUrl: null,
    circumstances: { address: '192.0.2.1', isSecure: false, at: 0 },
  }
}

t.test('random scopes allow exactly the operations that the model allows [tokens.scopes]', async (t) => {
  const seen = { allowed: 0, refused: 0 }
  fc.assert(
    fc.property(
      scopes,
      fc.constantFrom<Operation>(...KEY_OPERATIONS),
      buckets,
      keys,
      (text, operation, bucket, key) => {
        let isAllowed = true
        try {
          const principal = principalWith(text)
          if ('s3Action' in operation) authorize(principal, operation, { bucket, key }, NO_POLICIES)
          else authorize(principal, operation, { bucket, key })
        } catch (error) {
          assert(error instanceof Refusal && error.code === 'access_denied')
          isAllowed = false
        }
        assert.equal(isAllowed, allowedByModel(text, operation.id, { bucket, key }))
        seen[isAllowed ? 'allowed' : 'refused'] += 1
        const isSeen =
          !text.includes('op=') || text.includes('bucket=*') || text.includes(`bucket=${bucket}:`)
        assert.equal(canSeeBucket(principalWith(text), bucket), isSeen)
      },
    ),
    { numRuns: RUNS, seed: 5 },
  )
  t.ok(seen.allowed > 1000 && seen.refused > 1000, JSON.stringify(seen))
})
