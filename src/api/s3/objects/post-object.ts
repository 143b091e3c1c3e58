/**
 * PostObject: an upload by a browser form, as the PUT that it stands for. [AWS S3 API reference: POST Object]
 *
 * Owns: its answers. Knows nothing of: proof and policy, see serve-form.ts. Rule: an object is stored as PutObject stores it; nothing is decided here.
 */
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import type { BodySource } from '../../../content/content.ts'
import type { Services } from '../../../operations/base/services.ts'
import { putObject, type StoredObject } from '../../../operations/objects/put-object.ts'
import type { Answer } from '../../route.ts'
import { formHeaders } from '../form/form-headers.ts'
import type { SizeRange } from '../form/post-policy.ts'
import { storedHeaders, storeObject } from './object-routes.ts'
import { objectLocation } from './object-location.ts'
import { s3Bytes } from '../base/s3-bytes.ts'
import { readS3Key } from '../base/s3-encryption.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { refuseForeignS3Headers } from '../base/s3-headers.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { NEW_OBJECT_HEADERS } from './upload-headers.ts'
import { element, xmlDocument } from '../xml/write-xml.ts'

const IDEMPOTENCY_KEY = 'x-service-idempotency-key'
const STATUSES: ReadonlySet<string> = new Set(['200', '201', '204'])

/** What answers a request that is signed in its header: it is no form. */
export const postObjectRoute: S3Route = s3Route(
  putObject,
  {
    action: 'PostObject',
    method: 'POST',
    level: 'bucket',
    body: { kind: 'bytes' },
    status: 204,
    note: 'A form is signed with version 4',
  },
  async () => {
    throw new S3Fault(
      'PreconditionFailed',
      'A POST to a bucket is a form in multipart/form-data, signed by its policy',
    )
  },
)

/** A form whose policy is proved and met. */
export interface ProvedForm {
  readonly bucket: string
  readonly key: string
  /** Lower-case name -> text. */
  readonly fields: ReadonlyMap<string, string>
  readonly file: AsyncIterable<Uint8Array>
  readonly size: SizeRange
  /** Of the source of the whole form. */
  readonly heldMs: () => number
}

/** Throws S3Fault, MalformedXmlError, and what putObject throws. */
export async function storeForm(
  services: Services,
  principal: AccessKeyPrincipal,
  { form, call }: { readonly form: ProvedForm; readonly call: Pick<S3Call, 'headers' | 'signal'> },
): Promise<Answer> {
  const { bucket, fields, key } = form
  const idempotencyKey = call.headers[IDEMPOTENCY_KEY]
  const own = await formHeaders(fields)
  refuseForeignS3Headers({ ...postObjectRoute, headers: NEW_OBJECT_HEADERS }, own)
  const headers = idempotencyKey === undefined ? own : { ...own, [IDEMPOTENCY_KEY]: idempotencyKey }
  const bytes = s3Bytes({
    headers,
    payload: { kind: 'unsigned' },
    signing: null,
    source: sized(form),
    length: null,
  })
  const stored = await storeObject(services, principal, { bucket, key, headers, bytes, signal: call.signal })
  const about = {
    ...storedHeaders(stored, readS3Key(headers, principal)),
    location: objectLocation(services.config, { bucket, key, headers: call.headers }),
  }
  return dressed(form, about, stored)
}

/** Its end is not reached where the policy wants another size. */
function sized({ file, heldMs, size: { max, min } }: ProvedForm): BodySource {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    let length = 0
    for await (const piece of file) {
      length += piece.length
      if (length > max)
        throw new S3Fault('EntityTooLarge', `The file has more than the ${max} bytes that its policy allows`)
      yield piece
    }
    if (length < min)
      throw new S3Fault('EntityTooSmall', `The file has ${length} bytes: its policy allows ${min} or more`)
  }
  return Object.assign(bytes(), { heldMs })
}

function dressed(
  { bucket, fields, key }: ProvedForm,
  headers: Record<string, string> & { readonly location: string },
  stored: StoredObject,
): Answer {
  const { location } = headers
  const etag = `"${stored.object.etag}"`
  const target = redirection(fields.get('success_action_redirect') ?? fields.get('redirect'))
  if (target !== null) {
    for (const [name, value] of Object.entries({ bucket, key, etag })) target.searchParams.append(name, value)
    return { kind: 'empty', status: 303, headers: { ...headers, location: target.href } }
  }
  const wanted = fields.get('success_action_status') ?? ''
  const status = STATUSES.has(wanted) ? Number(wanted) : 204
  if (status !== 201) return { kind: 'empty', status, headers }
  const root = element(
    'PostResponse',
    element('Location', location),
    element('Bucket', bucket),
    element('Key', key),
    element('ETag', etag),
  )
  return { kind: 'ready', status, contentType: 'application/xml', bytes: xmlDocument(root, null), headers }
}

/** Null: none, or no address that a browser goes to; S3 then answers as if there were none. */
function redirection(text: string | undefined): URL | null {
  const url = text === undefined ? null : URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}
