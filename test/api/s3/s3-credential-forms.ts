/**
 * Every form of a signature without the right to an action of the S3 API, and the expected answer to each.
 *
 * Owns: the forms and the expected answers, derived from `requires` of the operations by rules of its own. Knows nothing of `authorize`.
 * Rule: a form that does not apply to a route gives null, and is no cell of the matrix.
 */
import type { Verb } from '../../../src/access/base/principal.ts'
import type { KeyRequirement } from '../../../src/access/rights.ts'
import type { S3Route } from '../../../src/api/s3/base/s3-route.ts'
import type { Ask } from '../api-world.ts'
import type { SigningSecret } from './s3-signer.ts'
import type { Sample } from './s3-samples.ts'
import type { S3World } from './s3-world.ts'

type Expected = readonly [status: number, code: string] | null

export interface S3Form {
  readonly form: string
  /** The request with this signature in place of a valid one. */
  readonly as: (sample: Sample) => Ask
  readonly expect: (route: S3Route) => Expected
}

const VERBS: readonly Verb[] = ['read', 'write', 'delete', 'admin']
const HOUR_MS = 3_600_000
const DENIED: Expected = [403, 'AccessDenied']
const UNKNOWN: SigningSecret = { accessKeyId: 'AK00000000000000', secretKey: 'x'.repeat(40) }
const always = (status: number, code: string) => (): Expected => [status, code]

export function needOf({ operation }: S3Route): KeyRequirement {
  const { requires } = operation
  if (requires.kind !== 'accessKey') throw new Error(`${operation.id} is an operation of access keys`)
  return requires
}

/** A bucket of this name may be made by every tenant. */
const makesBucket = ({ operation }: S3Route): boolean => operation.id === 'createBucket'
/** A batch is answered key by key. */
const isBatch = ({ operation }: S3Route): boolean => operation.id === 'batchDeleteObjects'

export class S3Forms {
  readonly forms: readonly S3Form[]
  readonly #denied: SigningSecret
  readonly #s3: S3World

  /** The tenant that is asked about is `acme`, with the bucket `photos` and keys below `2026/`. */
  static async make(s3: S3World): Promise<S3Forms> {
    const { memory } = s3.world
    for (const tenant of ['rival', 'gone']) await memory.tenant(tenant)
    const denied = await memory.accessKey('acme', VERBS.join())
    const bad = [...unproved(s3), ...(await ended(s3)), ...late(s3)]
    return new S3Forms(s3, denied, [...bad, ...(await scoped(s3)), ...(await others(s3, denied))])
  }

  private constructor(s3: S3World, denied: SigningSecret, forms: readonly S3Form[]) {
    this.#s3 = s3
    this.#denied = denied
    this.forms = forms
  }

  /** Has the bucket `photos` deny everything to a key that is otherwise allowed. */
  async deny(): Promise<void> {
    const Principal = { AWS: this.#denied.accessKeyId }
    const Resource = ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*']
    const Statement = [{ Effect: 'Deny', Principal, Action: 's3:*', Resource }]
    const policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await this.#s3.world.memory.change({ type: 'setBucketPolicy', tenantId: 'acme', name: 'photos', policy })
  }

  /** A key with the least that the sample of a route needs. */
  narrowest(route: S3Route): Promise<SigningSecret> {
    const { verbs, reach } = needOf(route)
    const prefix = reach === 'whole-bucket' ? '' : '2026/'
    // A copy reads its source.
    const needed =
      route.markHeader !== undefined || verbs.length === 0 ? (['read', ...verbs] as const) : verbs
    const scopes = needed.map((verb) => `op=${verb}:bucket=photos:prefix=${prefix}`).join()
    return this.#s3.world.memory.accessKey('acme', scopes)
  }
}

function bySecret(s3: S3World, form: string, secret: SigningSecret, expect: S3Form['expect']): S3Form {
  return { form, as: (sample) => s3.signed({ ...sample, secret }), expect }
}

const unsigned = ({ method, path, headers, body }: Sample): Ask => ({
  method,
  path,
  headers,
  ...(body === undefined ? {} : { body }),
})

const linked = (s3: S3World, sample: Sample, more: object, expiresSeconds?: number): Ask => ({
  ...unsigned(sample),
  path: s3.presigned({ ...sample, ...more }, expiresSeconds),
})

function unproved(s3: S3World): readonly S3Form[] {
  const wrong = { ...s3.secret, secretKey: `${s3.secret.secretKey.slice(0, -1)}!` }
  const mismatch = always(403, 'SignatureDoesNotMatch')
  const denied = always(403, 'AccessDenied')
  const authorized = (sample: Sample, authorization: string): Ask => {
    const ask = unsigned(sample)
    return { ...ask, headers: { ...ask.headers, authorization } }
  }
  const other = (sample: Sample): Sample => ({ ...sample, path: sample.path.replace('/', '/x') })
  return [
    { form: 'nothing', as: unsigned, expect: denied },
    { form: 'a bearer token', as: (sample) => authorized(sample, `Bearer ${s3.token}`), expect: denied },
    {
      form: 'a name and a password',
      as: (sample) => authorized(sample, `Basic ${Buffer.from('id:secret').toString('base64')}`),
      expect: denied,
    },
    {
      form: 'version 2',
      as: (sample) => authorized(sample, `AWS ${s3.secret.accessKeyId}:c2lnbmF0dXJl`),
      expect: always(400, 'InvalidRequest'),
    },
    bySecret(s3, 'a wrong secret', wrong, mismatch),
    bySecret(s3, 'an unknown key', UNKNOWN, always(403, 'InvalidAccessKeyId')),
    {
      form: 'a link with a wrong secret',
      as: (sample) => linked(s3, sample, { secret: wrong }),
      expect: mismatch,
    },
    {
      form: 'the signature of another path',
      as: (sample) => ({ ...s3.signed(other(sample)), path: sample.path }),
      expect: mismatch,
    },
    {
      form: 'the signature of another method',
      as: (sample) => ({ ...s3.signed({ ...sample, method: 'PATCH' }), method: sample.method }),
      expect: mismatch,
    },
    {
      form: 'a session token',
      as: (sample) => s3.signed({ ...sample, headers: { ...sample.headers, 'x-amz-security-token': 'x' } }),
      expect: always(400, 'InvalidToken'),
    },
  ]
}

async function ended(s3: S3World): Promise<readonly S3Form[]> {
  const { memory } = s3.world
  const key = (tenant: string, more: readonly [number?] = []) =>
    memory.accessKey(tenant, VERBS.join(), ...more)
  const [revoked, rotated, expired, disabled] = [
    await key('acme'),
    await key('acme'),
    await key('acme', [memory.now + 1]),
    await key('gone'),
  ]
  const { accessKeyId } = rotated
  const { sealed } = memory.services.access.newSecret(accessKeyId)
  const named = { tenantId: 'acme', accessKeyId }
  await memory.change({ type: 'rotateAccessKey', ...named, secret: sealed, scopes: null, expiresAt: null })
  const gone = { tenantId: 'acme', accessKeyId: revoked.accessKeyId, reason: 'test' }
  await memory.change({ type: 'revokeAccessKey', ...gone })
  await memory.change({ type: 'disableTenant', tenantId: 'gone', reason: 'test' })
  memory.now += HOUR_MS
  const denied = always(403, 'AccessDenied')
  return [
    bySecret(s3, 'a revoked key', revoked, denied),
    bySecret(s3, 'a rotated key', rotated, always(403, 'SignatureDoesNotMatch')),
    bySecret(s3, 'an expired key', expired, denied),
    bySecret(s3, 'a key of a disabled tenant', disabled, denied),
  ]
}

function late(s3: S3World): readonly S3Form[] {
  const at = (ms: number): Date => new Date(s3.world.memory.now + ms)
  const skewed = always(403, 'RequestTimeTooSkewed')
  return [
    { form: 'an hour old', as: (sample) => s3.signed({ ...sample, at: at(-HOUR_MS) }), expect: skewed },
    { form: 'an hour early', as: (sample) => s3.signed({ ...sample, at: at(HOUR_MS) }), expect: skewed },
    {
      form: 'a link that ended',
      as: (sample) => linked(s3, sample, { at: at(-HOUR_MS) }, 3_599),
      expect: always(403, 'AccessDenied'),
    },
  ]
}

async function scoped(s3: S3World): Promise<readonly S3Form[]> {
  const { memory } = s3.world
  const forms: S3Form[] = []
  for (const verb of VERBS) {
    const [alone, without] = [
      await memory.accessKey('acme', verb),
      await memory.accessKey('acme', VERBS.filter((other) => other !== verb).join()),
    ]
    forms.push(
      bySecret(s3, `${verb} alone`, alone, (route) =>
        needOf(route).verbs.every((needed) => needed === verb) ? null : DENIED,
      ),
      bySecret(s3, `all but ${verb}`, without, (route) =>
        needOf(route).verbs.includes(verb) ? DENIED : null,
      ),
    )
  }
  const where = async (scope: string) =>
    memory.accessKey('acme', VERBS.map((verb) => `op=${verb}:${scope}`).join())
  forms.push(
    bySecret(s3, 'another bucket', await where('bucket=photos2:prefix='), (route) =>
      needOf(route).reach === 'tenant' ? null : DENIED,
    ),
  )
  for (const prefix of ['elsewhere/', '2026/cat.txt/', '2026/CAT'])
    forms.push(
      bySecret(s3, `the prefix ${prefix}`, await where(`bucket=photos:prefix=${prefix}`), (route) =>
        ['key', 'whole-bucket'].includes(needOf(route).reach) ? DENIED : null,
      ),
    )
  return forms
}

async function others(s3: S3World, denied: SigningSecret): Promise<readonly S3Form[]> {
  const { memory } = s3.world
  const bound = { addresses: ['203.0.113.0/24'], certificates: [] }
  const [rival, elsewhere] = [
    await memory.accessKey('rival', VERBS.join()),
    await memory.accessKey('acme', VERBS.join(), null, bound),
  ]
  const isInBucket = (route: S3Route): boolean => route.level !== 'service' && !makesBucket(route)
  return [
    bySecret(s3, 'a key for other addresses', elsewhere, always(403, 'AccessDenied')),
    bySecret(s3, 'another tenant', rival, (route) => (isInBucket(route) ? [404, 'NoSuchBucket'] : null)),
    bySecret(s3, 'a key that a policy denies', denied, (route) =>
      isInBucket(route) && !isBatch(route) ? DENIED : null,
    ),
    {
      form: 'the owner is another tenant',
      as: (sample) =>
        s3.signed({ ...sample, headers: { ...sample.headers, 'x-amz-expected-bucket-owner': 'rival' } }),
      expect: always(403, 'AccessDenied'),
    },
  ]
}
