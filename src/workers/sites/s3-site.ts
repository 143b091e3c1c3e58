/**
 * The store of another site, by its S3 API. [AWS S3 API reference]
 *
 * Owns: which request each member of RemoteStore is. Knows nothing of: queues, rules. Rules: an upload and a deletion carry the condition that
 * they expect; a checksum goes with every upload, so that bytes that changed on the way are refused.
 */
import { createHash } from 'node:crypto'
import { readXml, type ReadElement } from '../../api/s3/xml/read-xml.ts'
import { element, type XmlElement, xmlDocument } from '../../api/s3/xml/write-xml.ts'
import {
  type RemoteName,
  type RemotePut,
  type RemoteStore,
  type RemoteVersion,
  SiteFault,
} from '../../operations/base/remote-store.ts'
import { listingPage, pageQuery, unquoted } from '../../s3-client/object-listing.ts'
import {
  IDENTITY_HEADER,
  MARK_NAME,
  markText,
  readMark,
  REPLICA_HEADER,
  SOURCE_HEADER,
  sourceText,
} from '../../state-machine/sites/mark.ts'
import type { ObjectRecord, RetentionRecord, Tags } from '../../state-machine/versions/records.ts'
import { PART_SIZES, type PartSizes, planParts } from './part-plan.ts'
import { putInParts } from './s3-parts.ts'
import type { SiteAccess, SiteAnswer, SiteConnections, SiteRequest } from './s3-requests.ts'

const VERSIONS_MAX = 100
/** Its name is never sent. [AWS S3 API: CreateBucket] */
const CLASSIC_REGION = 'us-east-1'
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const MD5_ETAG = /^[0-9a-f]{32}$/
/** For a request that ends what this node has started, when it stops as well. */
const LAST_REQUEST_MS_MAX = 5_000

export class S3Site implements RemoteStore {
  readonly #connections: SiteConnections
  readonly #access: SiteAccess
  readonly #sizes: PartSizes

  constructor(connections: SiteConnections, access: SiteAccess, sizes: PartSizes = PART_SIZES) {
    this.#connections = connections
    this.#access = access
    this.#sizes = sizes
  }

  async probe(): ReturnType<RemoteStore['probe']> {
    // A listing, because HEAD has no body that could say what is wrong.
    const query = pageQuery('', { token: null, maxKeys: 1 })
    await this.#ask({ method: 'GET', action: 'ListObjectsV2', query })
    const { headers } = await this.#ask({ method: 'HEAD', action: 'HeadBucket' })
    const [, clusterId, bucketId] = /^([\w-]{1,64}) (\w{1,64})$/.exec(headers[IDENTITY_HEADER] ?? '') ?? []
    const isHoldfast = clusterId !== undefined && bucketId !== undefined
    return { identity: isHoldfast ? { clusterId, bucketId } : null }
  }

  async probeStore(): Promise<void> {
    // A key that may not list buckets has proved itself by that answer.
    await this.#ask({ method: 'GET', action: 'ListBuckets', isOfStore: true }).catch((error: unknown) => {
      if (!(error instanceof SiteFault) || error.s3Code !== 'AccessDenied') throw error
    })
  }

  async makeBucket({ objectLock, source }: Parameters<RemoteStore['makeBucket']>[0]): Promise<void> {
    const headers = {
      [SOURCE_HEADER]: sourceText(source),
      ...(objectLock ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {}),
    }
    const { region } = this.#access.target
    const body = region === CLASSIC_REGION ? {} : xmlBody(createConfiguration(region))
    await this.#ask({ method: 'PUT', action: 'CreateBucket', headers, ...body })
    const versioning = element('VersioningConfiguration', element('Status', 'Enabled'))
    const query = { versioning: '' }
    const enable = { method: 'PUT', action: 'PutBucketVersioning', query, ...xmlBody(versioning) } as const
    try {
      await this.#ask(enable)
    } catch (error) {
      await this.#askAtLast({ method: 'DELETE', action: 'DeleteBucket' })
      throw error
    }
  }

  async head({ key, versionId }: RemoteName): Promise<RemoteVersion | null> {
    const headers = { 'x-amz-checksum-mode': 'ENABLED' }
    const query = versionQuery(versionId)
    const request = { method: 'HEAD', action: 'HeadObject', key, query, headers } as const
    const answer = await this.#ask({ ...request, expects: [403, 404, 405] })
    // HEAD cannot say whether the key, the bucket or the credentials are refused.
    if (answer.status === 403) {
      await this.probe()
      throw new SiteFault('failed', 'HeadObject was answered 403 AccessDenied', { s3Code: 'AccessDenied' })
    }
    return versionIn(answer)
  }

  async put(put: RemotePut): Promise<void> {
    const { key, object, mark, expected, assembledOf } = put
    const headers = { ...descriptionOf(object), [`x-amz-meta-${MARK_NAME}`]: markText(mark) }
    const conditions: Record<string, string> =
      expected === null ? { 'if-none-match': '*' } : { 'if-match': `"${expected}"` }
    const parts = planParts(object.size, assembledOf, this.#sizes)
    if (parts === null) return this.#putWhole(put, { ...headers, ...conditions })
    const { body } = put
    const requests = {
      ask: (request: SiteRequest) => this.#ask(request),
      xml: (request: SiteRequest) => this.#xml(request),
      askAtLast: (request: SiteRequest) => this.#askAtLast(request),
      signal: this.#access.signal,
    }
    const isProved = await putInParts(requests, { key, parts, body, headers, conditions })
    if (!isProved) await this.#compare(put)
  }

  async #putWhole({ key, object, body }: RemotePut, headers: Record<string, string>): Promise<void> {
    const { size } = object
    const sent = size === 0 ? { bytes: new Uint8Array(0), length: 0 } : { bytes: body(), length: size }
    const all = { ...headers, ...digestsOf(object) }
    const request = { method: 'PUT', action: 'PutObject', key, headers: all, body: sent } as const
    const answer = await this.#ask({ ...request, bodyHash: UNSIGNED })
    const etag = unquoted(answer.headers['etag'] ?? '')
    if (MD5_ETAG.test(object.etag) && MD5_ETAG.test(etag) && etag !== object.etag)
      throw new SiteFault('failed', 'The target stored other bytes than it was sent')
  }

  /** Of an upload whose parts had no tag that is a digest. What differs is removed, or the next attempt would take it for the version. */
  async #compare({ key, object, mark }: RemotePut): Promise<void> {
    const there = await this.head({ key, versionId: null })
    if (there?.mark?.versionId !== mark.versionId) return
    const [own, other] = [object.checksums.CRC64NVME, there.crc64nvme]
    const isSame = there.size === object.size && (own === undefined || other === null || own === other)
    if (isSame) return
    await this.remove({ key, versionId: there.versionId }, { expected: null, mark })
    throw new SiteFault('failed', 'The target stored other bytes than it was sent')
  }

  async remove(
    { key, versionId }: RemoteName,
    { expected, mark }: Parameters<RemoteStore['remove']>[1],
  ): Promise<void> {
    const headers = {
      [REPLICA_HEADER]: markText(mark),
      ...(expected === null ? {} : { 'if-match': `"${expected}"` }),
    }
    const query = versionQuery(versionId)
    await this.#ask({ method: 'DELETE', action: 'DeleteObject', key, query, headers })
  }

  async setTags(name: RemoteName, tags: Tags): Promise<void> {
    const set = Object.entries(tags).map(([tag, value]) =>
      element('Tag', element('Key', tag), element('Value', value)),
    )
    const tagging = element('Tagging', element('TagSet', ...set))
    await this.#setting(name, { query: 'tagging', action: 'PutObjectTagging', xml: tagging })
  }

  async setRetention(name: RemoteName, retention: RetentionRecord | null): Promise<void> {
    const members =
      retention === null
        ? []
        : [
            element('Mode', retention.mode),
            element('RetainUntilDate', new Date(retention.until).toISOString()),
          ]
    const xml = element('Retention', ...members)
    await this.#setting(name, { query: 'retention', action: 'PutObjectRetention', xml })
  }

  async setLegalHold(name: RemoteName, legalHold: boolean): Promise<void> {
    const xml = element('LegalHold', element('Status', legalHold ? 'ON' : 'OFF'))
    await this.#setting(name, { query: 'legal-hold', action: 'PutObjectLegalHold', xml })
  }

  async versionsOf(key: string): Promise<readonly string[]> {
    const query = { versions: '', prefix: key, 'max-keys': `${VERSIONS_MAX}` }
    const root = await this.#xml({ method: 'GET', action: 'ListObjectVersions', query })
    return root
      .childrenNamed('Version')
      .filter((one) => one.needed('Key').text === key)
      .map((one) => one.needed('VersionId').text.trim())
  }

  async list({ prefix, after, limit }: Parameters<RemoteStore['list']>[0]) {
    const query = {
      ...pageQuery(prefix, { token: null, maxKeys: limit }),
      ...(after === '' ? {} : { 'start-after': after }),
    }
    const { objects, next } = listingPage(
      await this.#xml({ method: 'GET', action: 'ListObjectsV2', query }),
      null,
    )
    return { objects, isLast: next === null }
  }

  async #setting(
    name: RemoteName,
    { query, action, xml }: { readonly query: string; readonly action: string; readonly xml: XmlElement },
  ): Promise<void> {
    const bytes = xmlDocument(xml)
    const headers = {
      'content-type': 'application/xml',
      'content-md5': createHash('md5').update(bytes).digest('base64'),
      ...(query === 'retention' ? { 'x-amz-bypass-governance-retention': 'true' } : {}),
    }
    await this.#ask({
      method: 'PUT',
      action,
      key: name.key,
      headers,
      query: { [query]: '', ...versionQuery(name.versionId) },
      body: { bytes, length: bytes.length },
      bodyHash: createHash('sha256').update(bytes).digest('hex'),
    })
  }

  async #xml(request: SiteRequest): Promise<ReadElement> {
    const { body } = await this.#ask(request)
    try {
      return await readXml([body], { bytesMax: body.length + 1, elementsMax: 100_000, depthMax: 16 })
    } catch {
      throw new SiteFault('failed', `The answer to ${request.action} is no XML of S3`)
    }
  }

  #ask(request: SiteRequest): Promise<SiteAnswer> {
    return this.#connections.ask(this.#access, request)
  }

  async #askAtLast(request: SiteRequest): Promise<void> {
    const signal = AbortSignal.timeout(LAST_REQUEST_MS_MAX)
    try {
      await this.#connections.ask({ ...this.#access, signal }, request)
    } catch (error) {
      // The target ends it by a rule of its own; the fault that led here is the one to show.
      if (!(error instanceof SiteFault)) throw error
    }
  }
}

function createConfiguration(region: string): XmlElement {
  return element('CreateBucketConfiguration', element('LocationConstraint', region))
}

function xmlBody(xml: XmlElement): Pick<SiteRequest, 'body' | 'bodyHash'> {
  const bytes = xmlDocument(xml)
  return {
    body: { bytes, length: bytes.length },
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
  }
}

const versionQuery = (versionId: string | null): Record<string, string> =>
  versionId === null ? {} : { versionId }

/** Null: there is nothing. A delete marker answers 404, or 405 when it is named. */
function versionIn({ status, headers }: SiteAnswer): RemoteVersion | null {
  const isDeleteMarker = headers['x-amz-delete-marker'] === 'true'
  if (status !== 200 && !isDeleteMarker) return null
  const modifiedAt = Date.parse(headers['last-modified'] ?? '')
  const mark = isDeleteMarker ? headers[REPLICA_HEADER] : headers[`x-amz-meta-${MARK_NAME}`]
  return {
    isDeleteMarker,
    etag: isDeleteMarker ? '' : unquoted(headers['etag'] ?? ''),
    size: Number(headers['content-length'] ?? 0),
    versionId: headers['x-amz-version-id'] ?? null,
    modifiedAt: Number.isNaN(modifiedAt) ? null : modifiedAt,
    crc64nvme:
      headers['x-amz-checksum-type'] === 'COMPOSITE' ? null : (headers['x-amz-checksum-crc64nvme'] ?? null),
    mark: readMark(mark),
  }
}

const REPRESENTATION = {
  cacheControl: 'cache-control',
  contentDisposition: 'content-disposition',
  contentEncoding: 'content-encoding',
  contentLanguage: 'content-language',
  expires: 'expires',
} as const

/** Everything that is said of a version beside its bytes. */
function descriptionOf(object: ObjectRecord): Record<string, string> {
  const { metadata, representation = {}, tags, retention, legalHold } = object
  const said = Object.entries(REPRESENTATION).flatMap(([member, header]) => {
    const value = representation[member as keyof typeof REPRESENTATION]
    return value === undefined ? [] : [[header, latin(value)] as const]
  })
  const query = Object.entries(tags).map((pair) => pair.map(encodeURIComponent).join('='))
  return {
    'content-type': latin(object.contentType),
    ...Object.fromEntries(said),
    ...Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, latin(value)] as const),
    ),
    ...(query.length === 0 ? {} : { 'x-amz-tagging': query.join('&') }),
    ...(retention === null
      ? {}
      : {
          'x-amz-object-lock-mode': retention.mode,
          'x-amz-object-lock-retain-until-date': new Date(retention.until).toISOString(),
        }),
    ...(legalHold ? { 'x-amz-object-lock-legal-hold': 'ON' } : {}),
  }
}

/** Of all bytes, where there are such. */
function digestsOf({ etag, checksums }: ObjectRecord): Record<string, string> {
  const crc = checksums.CRC64NVME
  return {
    ...(MD5_ETAG.test(etag) ? { 'content-md5': Buffer.from(etag, 'hex').toString('base64') } : {}),
    ...(crc === undefined ? {} : { 'x-amz-checksum-crc64nvme': crc }),
  }
}

/** A header has one character for each byte. */
const latin = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
