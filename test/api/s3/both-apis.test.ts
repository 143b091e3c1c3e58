/**
 * Random sequences of requests, split at random between both APIs: what either of them shows agrees with one model.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import type { ApiAnswer } from '../api-world.ts'
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import { type S3Answer, S3World } from './s3-world.ts'

type Api = 's3' | 'native'

interface Version {
  readonly key: string
  readonly id: string
  /** Null: a delete marker. */
  readonly body: string | null
}

interface Upload {
  readonly key: string
  readonly id: string
  readonly parts: Map<number, { readonly body: string; readonly etag: string }>
}

const KEYS = ['a', 'a/b', 'a/b c', 'd+é'] as const
const key = fc.constantFrom(...KEYS)
const body = fc.constantFrom('', 'x', 'longer than others', 'y'.repeat(3000))
const place = fc.nat(1000)
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), key, body }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), key, at: fc.option(place) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('removeMany' as const),
      keys: fc.array(key, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('copy' as const), key, from: key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('begin' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('part' as const),
      at: place,
      number: fc.constantFrom(1, 1, 7),
      body,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('copyPart' as const), at: place, from: key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      at: place,
      number: fc.constantFrom(1, 1, 7),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), at: place }) },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const pathOf = (text: string): string => text.split('/').map(encodeURIComponent).join('/')
const escaped = (text: string): string => text.replaceAll('&', '&amp;')

class Model {
  /** Of a key the newest first. */
  readonly versions = new Map<string, Version[]>()
  readonly uploads: Upload[] = []
  readonly #s3: S3World
  readonly #bucket: string
  api: Api = 's3'

  constructor(s3: S3World, bucket: string) {
    this.#s3 = s3
    this.#bucket = bucket
  }

  of(name: string): Version[] {
    const known = this.versions.get(name)
    if (known !== undefined) return known
    const made: Version[] = []
    this.versions.set(name, made)
    return made
  }

  current(name: string): string | null {
    return this.of(name)[0]?.body ?? null
  }

  add(name: string, answer: ApiAnswer, content: string | null): void {
    const id = answer.headers['x-amz-version-id'] ?? answer.headers['x-service-version-id']
    assert.ok(typeof id === 'string', answer.bytes.toString())
    this.of(name).unshift({ key: name, id, body: content })
  }

  forget(name: string, id: string): void {
    this.versions.set(
      name,
      this.of(name).filter((version) => version.id !== id),
    )
  }

  call(
    method: string,
    rest: string,
    more: { readonly body?: string; readonly headers?: Record<string, string> } = {},
  ): Promise<S3Answer> {
    return this.#s3.call({ method, path: `/${this.#bucket}${rest}`, ...more })
  }

  native(method: string, rest: string, sent?: string | object): Promise<ApiAnswer> {
    const path = `/api/v1/buckets/${this.#bucket}/${rest}`
    return this.#s3.world.call({
      method,
      path,
      token: this.#s3.token,
      ...(sent === undefined ? {} : { body: sent }),
    })
  }

  async act(step: Action): Promise<void> {
    const isS3 = this.api === 's3'
    switch (step.do) {
      case 'put': {
        const path = pathOf(step.key)
        const put = isS3
          ? await this.call('PUT', `/${path}`, { body: step.body })
          : await this.native('PUT', `objects/${path}`, step.body)
        return this.add(step.key, put, step.body)
      }
      case 'remove':
        return this.#remove(step, isS3)
      case 'removeMany':
        return this.#removeMany(step.keys, isS3)
      case 'copy': {
        const content = this.current(step.from)
        if (step.from === step.key) return
        const copied = isS3
          ? await this.call('PUT', `/${pathOf(step.key)}`, {
              headers: { 'x-amz-copy-source': `${this.#bucket}/${pathOf(step.from)}` },
            })
          : await this.native('POST', `object-copy/${pathOf(step.key)}`, {
              sourceBucket: this.#bucket,
              sourceKey: step.from,
            })
        assert.equal(copied.status, content === null ? 404 : 200)
        if (content !== null) this.add(step.key, copied, content)
        return
      }
      default:
        return this.#actOnUpload(step, isS3)
    }
  }

  async #remove({ key: name, at }: Extract<Action, { do: 'remove' }>, isS3: boolean): Promise<void> {
    const versions = this.of(name)
    const version = at === null ? undefined : versions[at % Math.max(1, versions.length)]
    const query = version === undefined ? '' : `?versionId=${version.id}`
    const path = `${pathOf(name)}${query}`
    const gone = isS3 ? await this.call('DELETE', `/${path}`) : await this.native('DELETE', `objects/${path}`)
    assert.equal(gone.status, 204)
    if (version === undefined) this.add(name, gone, null)
    else this.forget(name, version.id)
  }

  async #removeMany(names: readonly string[], isS3: boolean): Promise<void> {
    const ids: string[] = []
    if (isS3) {
      const objects = names.map((name) => `<Object><Key>${escaped(name)}</Key></Object>`)
      const document = `<Delete>${objects.join('')}</Delete>`
      const digest = createHash('md5').update(document).digest('base64')
      const { xml } = await this.call('POST', '?delete', {
        body: document,
        headers: { 'content-md5': digest },
      })
      for (const one of xml?.childrenNamed('Deleted') ?? [])
        ids.push(one.textOf('DeleteMarkerVersionId') ?? '')
    } else {
      const { json } = await this.native('POST', 'objects:batchDelete', {
        objects: names.map((name) => ({ key: name })),
      })
      for (const one of json['results'] as readonly { readonly deleteMarkerVersionId: string }[])
        ids.push(one.deleteMarkerVersionId)
    }
    assert.equal(ids.length, names.length)
    for (const [n, name] of names.entries())
      this.of(name).unshift({ key: name, id: ids[n] ?? '', body: null })
  }

  async #actOnUpload(
    step: Exclude<Action, { do: 'put' | 'remove' | 'removeMany' | 'copy' }>,
    isS3: boolean,
  ): Promise<void> {
    if (step.do === 'begin') {
      const path = pathOf(step.key)
      const id = isS3
        ? (await this.call('POST', `/${path}?uploads`)).xml?.textOf('UploadId')
        : (await this.native('POST', `multipart/${path}`, {})).json['uploadId']
      this.uploads.push({ key: step.key, id: String(id), parts: new Map() })
      return
    }
    const upload = this.uploads[step.at % Math.max(1, this.uploads.length)]
    if (upload === undefined) return
    const [path, { id }] = [pathOf(upload.key), upload]
    switch (step.do) {
      case 'part': {
        const sent = isS3
          ? await this.call('PUT', `/${path}?partNumber=${step.number}&uploadId=${id}`, { body: step.body })
          : await this.native('PUT', `multipart/${id}/parts/${step.number}/${path}`, step.body)
        upload.parts.set(step.number, { body: step.body, etag: String(sent.headers.etag) })
        return
      }
      case 'copyPart': {
        const content = this.current(step.from)
        const headers = { 'x-amz-copy-source': `${this.#bucket}/${pathOf(step.from)}` }
        const { status, xml } = await this.call('PUT', `/${path}?partNumber=1&uploadId=${id}`, { headers })
        assert.equal(status, content === null ? 404 : 200)
        if (content !== null) upload.parts.set(1, { body: content, etag: xml?.textOf('ETag') ?? '' })
        return
      }
      case 'complete':
        return this.#complete(upload, step.number, isS3)
      case 'abort': {
        const ended = isS3
          ? await this.call('DELETE', `/${path}?uploadId=${id}`)
          : await this.native('DELETE', `multipart/${id}/${path}`)
        assert.equal(ended.status, 204)
        this.uploads.splice(this.uploads.indexOf(upload), 1)
      }
    }
  }

  /** With one part: the others would be too small. */
  async #complete(upload: Upload, partNumber: number, isS3: boolean): Promise<void> {
    const part = upload.parts.get(partNumber)
    const etag = part?.etag ?? '0'.repeat(32)
    const path = pathOf(upload.key)
    const document = `<CompleteMultipartUpload><Part><PartNumber>${partNumber}</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`
    const completed = isS3
      ? await this.call('POST', `/${path}?uploadId=${upload.id}`, { body: document })
      : await this.native('POST', `multipart/${upload.id}/complete/${path}`, {
          parts: [{ partNumber, etag }],
        })
    assert.equal(completed.status, part === undefined ? 400 : 200, completed.bytes.toString())
    if (part === undefined) return
    this.add(upload.key, completed, part.body)
    this.uploads.splice(this.uploads.indexOf(upload), 1)
  }
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const linesOf = (page: ReadElement | null): readonly ReadElement[] =>
  page?.children.filter(({ name }) => name === 'Version' || name === 'DeleteMarker') ?? []

/** What both APIs show of the bucket. */
async function check(model: Model): Promise<void> {
  const names = [...model.versions.keys()].toSorted(byBytes)
  const versions = names.flatMap((name) => model.of(name))
  const expected = versions.map(({ key: name, id, body: content }) => [
    name,
    id,
    content === null,
    content?.length ?? null,
  ])
  const s3 = linesOf((await model.call('GET', '?versions')).xml).map((line) => [
    line.textOf('Key'),
    line.textOf('VersionId'),
    line.name === 'DeleteMarker',
    line.child('Size') === null ? null : Number(line.textOf('Size')),
  ])
  assert.deepEqual(s3, expected)
  const shown = (await model.native('GET', 'versions')).json['versions'] as readonly Record<string, unknown>[]
  assert.deepEqual(
    shown.map((one) => [one['key'], one['versionId'], one['isDeleteMarker'], one['size'] ?? null]),
    expected,
  )
  const present = names.filter((name) => model.current(name) !== null)
  const objects = (await model.native('GET', 'objects')).json['objects'] as readonly Record<string, unknown>[]
  const contents = (await model.call('GET', '?list-type=2')).xml?.childrenNamed('Contents') ?? []
  assert.deepEqual(
    objects.map((one) => one['key']),
    present,
  )
  assert.deepEqual(
    contents.map((one) => [one.textOf('Key'), one.textOf('ETag')]),
    objects.map((one) => [one['key'], `"${String(one['etag'])}"`]),
  )
  for (const name of present) {
    const [one, other] = [
      await model.call('GET', `/${pathOf(name)}`),
      await model.native('GET', `objects/${pathOf(name)}`),
    ]
    assert.equal(one.bytes.toString(), model.current(name))
    assert.deepEqual(other.bytes, one.bytes)
    assert.equal(other.headers.etag, one.headers.etag)
  }
  const ids = model.uploads.map(({ id }) => id).toSorted()
  const uploads = (await model.native('GET', 'multipart')).json['uploads'] as readonly Record<
    string,
    unknown
  >[]
  assert.deepEqual(uploads.map((one) => String(one['uploadId'])).toSorted(), ids)
  const underWay = (await model.call('GET', '?uploads')).xml?.childrenNamed('Upload') ?? []
  assert.deepEqual(underWay.map((one) => one.textOf('UploadId') ?? '').toSorted(), ids)
}

t.test('both APIs show one state, whichever of them changes it', async (t) => {
  const s3 = await S3World.start(t, { limits: { bucketsPerTenantMax: 100 } })
  let buckets = 0
  const step = fc.record({ api: fc.constantFrom<Api>('s3', 'native'), what: action })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
      const name = `bucket-${buckets++}`
      const made = { name, versioning: 'Enabled' }
      await s3.world.call({ method: 'POST', path: '/api/v1/buckets', token: s3.token, body: made })
      const model = new Model(s3, name)
      for (const { api, what } of steps) {
        model.api = api
        await model.act(what)
      }
      await check(model)
    }),
    { seed: 47, numRuns: 25, endOnFailure: true },
  )
})
