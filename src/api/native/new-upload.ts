/**
 * What a client says when it begins a multipart upload, in a JSON body or in headers. [decisions 6]
 *
 * Rule: nothing is taken from both places, and nothing given is left out in silence.
 */
import type { IncomingHttpHeaders } from 'node:http'
import Type, { type Static } from 'typebox'
import { KEPT_ALGORITHMS, parseAlgorithm } from '../../content/checksums.ts'
import { checkContentType, checkMetadata } from '../../operations/objects/description.ts'
import { checkTags } from '../../operations/base/tags.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Representation } from '../../state-machine/versions/records.ts'
import { documented } from '../documented.ts'
import { CUSTOMER_KEY_HEADERS } from '../customer-key-headers.ts'
import { headerText } from '../header-text.ts'
import type { HeaderNote } from '../route.ts'
import { readTime } from '../wire.ts'
import { HoldView, RetentionView } from './lock-view.ts'
import { ContentType, Metadata, Tags } from './given-schemas.ts'
import { readMetadata } from './metadata-headers.ts'
import {
  REPRESENTATION_MEMBERS,
  REPRESENTATION_NOTES,
  representationOfNew,
} from './representation-headers.ts'
import { readSettings, SETTINGS_HEADERS } from './settings-headers.ts'
import { readContentType, refuseForeignHeaders } from './upload-headers.ts'

export const NewUpload = Type.Object(
  {
    contentType: Type.Optional(ContentType),
    metadata: Type.Optional(Metadata),
    ...REPRESENTATION_MEMBERS,
    tags: Type.Optional(Tags),
    retention: Type.Optional(RetentionView),
    legalHold: Type.Optional(HoldView),
    checksumAlg: Type.Optional(Type.String(documented({ enum: [...KEPT_ALGORITHMS] }))),
  },
  { additionalProperties: false },
)
type NewUploadBody = Static<typeof NewUpload>

const TAKEN =
  /^x-service-(meta-.*|checksum-algorithm|tagging|retention-mode|retain-until|legal-hold|customer-.*)$/
const ALGORITHM = 'X-Service-Checksum-Algorithm'

export const NEW_UPLOAD_HEADERS: readonly HeaderNote[] = [
  { name: 'X-Service-Meta-<name>', description: 'User metadata, 2 KiB in all' },
  ...REPRESENTATION_NOTES,
  {
    name: ALGORITHM,
    description: `Computed of every part: ${KEPT_ALGORITHMS.join(', ')}`,
    schema: { enum: [...KEPT_ALGORITHMS] },
  },
  ...SETTINGS_HEADERS,
  ...CUSTOMER_KEY_HEADERS,
]

/** Throws Refusal invalid_request, invalid_tag, checksum_unsupported. */
export function readNewUpload(headers: IncomingHttpHeaders, body: NewUploadBody) {
  refuseForeignHeaders(headers, TAKEN, 'Checksums go with the parts, conditions with the completion')
  refuseTwice(headers, body)
  const { contentType, metadata, tags, retention, legalHold, checksumAlg } = body
  const said = readSettings(headers)
  const algorithm = checksumAlg ?? headerText(headers, ALGORITHM.toLowerCase())
  return {
    contentType:
      contentType === undefined
        ? readContentType(hasBody(headers) ? {} : headers)
        : checkContentType(contentType),
    metadata: metadata === undefined ? readMetadata(headers) : checkMetadata(Object.entries(metadata)),
    ...representationOfNew(headers, body, hasBody(headers)),
    tags: tags === undefined ? said.tags : checkTags(Object.entries(tags)),
    retention:
      retention === undefined
        ? said.retention
        : { mode: retention.mode, until: readTime('retention.retainUntil', retention.retainUntil) },
    legalHold: legalHold === undefined ? said.legalHold : legalHold.status === 'ON',
    checksumAlg: algorithm === undefined ? null : parseAlgorithm(algorithm),
  }
}

const IN_HEADERS: Readonly<Record<Exclude<keyof NewUploadBody, keyof Representation>, RegExp | null>> = {
  // The header speaks of the JSON body, where there is one.
  contentType: null,
  metadata: /^x-service-meta-/,
  tags: /^x-service-tagging$/,
  retention: /^x-service-reta?in/,
  legalHold: /^x-service-legal-hold$/,
  checksumAlg: /^x-service-checksum-algorithm$/,
}

function refuseTwice(headers: IncomingHttpHeaders, body: NewUploadBody): void {
  for (const [field, pattern] of Object.entries(IN_HEADERS)) {
    if (pattern === null || !Object.hasOwn(body, field)) continue
    const name = Object.keys(headers).find((header) => pattern.test(header))
    if (name !== undefined)
      throw new Refusal(
        'invalid_request',
        `"${field}" is in the body and ${name} in the headers: give one of them`,
      )
  }
}

/** Then Content-Type speaks of the body, and not of the object. */
function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
