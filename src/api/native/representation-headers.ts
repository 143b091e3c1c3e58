/**
 * How the bytes of an object are handed out: as headers of an upload, as members of JSON, as headers of answers. [decisions 17]
 *
 * Rules: what is stored comes back as it was sent, byte for byte, on answers that carry the object and on no others: on an answer in JSON
 * `Content-Encoding` would be untrue. Nothing here is carried out: bytes and ranges are those that were uploaded.
 */
import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { checkRepresentation, CODINGS } from '../../operations/objects/description.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Representation } from '../../state-machine/versions/records.ts'
import { documented } from '../documented.ts'
import type { HeaderNote } from '../route.ts'
import { HeaderText } from './given-schemas.ts'
import { headerValue } from './metadata-headers.ts'

type Member = keyof Representation

const HEADERS: Readonly<Record<Member, string>> = {
  cacheControl: 'Cache-Control',
  contentDisposition: 'Content-Disposition',
  contentEncoding: 'Content-Encoding',
  contentLanguage: 'Content-Language',
  expires: 'Expires',
}
const MEMBERS = Object.keys(HEADERS) as readonly Member[]
/** Those that speak of the body of the very request, where it is JSON. */
const OF_ANY_BODY: readonly Member[] = ['contentEncoding', 'contentLanguage']

/** Empty says nothing. `aws-chunked` is refused. */
const CODINGS_FACTS = {
  pattern: `^$|${CODINGS.source}`,
  not: { pattern: '(^|,)[ \\t]*[aA][wW][sS]-[cC][hH][uU][nN][kK][eE][dD][ \\t]*(,|$)' },
}

/** In records that are shown. */
export const REPRESENTATION_VIEW = {
  cacheControl: Type.Optional(Type.String()),
  contentDisposition: Type.Optional(Type.String()),
  contentEncoding: Type.Optional(Type.String()),
  contentLanguage: Type.Optional(Type.String()),
  expires: Type.Optional(Type.String()),
}

/** In bodies that clients send. */
export const REPRESENTATION_MEMBERS = {
  cacheControl: Type.Optional(HeaderText),
  contentDisposition: Type.Optional(HeaderText),
  contentEncoding: Type.Optional(Type.String(documented(CODINGS_FACTS))),
  contentLanguage: Type.Optional(HeaderText),
  expires: Type.Optional(HeaderText),
}

export const REPRESENTATION_NOTES: readonly HeaderNote[] = Object.values(HEADERS).map((name) => ({
  name,
  description: 'Stored with the object, and given back with its bytes; 2 KiB together',
  ...(name === HEADERS.contentEncoding ? { schema: CODINGS_FACTS } : {}),
}))

export const GIVEN_BACK_NOTES: readonly HeaderNote[] = Object.values(HEADERS).map((name) => ({
  name,
  description: 'As it was uploaded, if it was',
}))

interface Said {
  readonly representation?: Representation
}

/** Of an upload whose body is the object. Throws Refusal invalid_request, not_implemented. */
export function readRepresentation(headers: IncomingHttpHeaders): Said {
  return said(
    checkRepresentation(
      MEMBERS.map((member) => ({
        member,
        name: HEADERS[member],
        value: headerValue(headers, HEADERS[member].toLowerCase())?.trim(),
      })),
    ),
  )
}

/** Of a body in JSON. Throws Refusal invalid_request, not_implemented. */
export function representationIn(body: Representation): Said {
  return said(
    checkRepresentation(MEMBERS.map((member) => ({ member, name: `"${member}"`, value: body[member] }))),
  )
}

/** From the body or from headers, not from both. Throws Refusal invalid_request, not_implemented. */
export function representationOfNew(
  headers: IncomingHttpHeaders,
  body: Representation,
  hasBody: boolean,
): Said {
  const inHeaders = MEMBERS.filter((member) => !hasBody || !OF_ANY_BODY.includes(member)).filter(
    (member) => (headers[HEADERS[member].toLowerCase()] ?? '') !== '',
  )
  const twice = inHeaders.find((member) => body[member] !== undefined)
  if (twice !== undefined)
    throw new Refusal(
      'invalid_request',
      `"${twice}" is in the body and ${HEADERS[twice]} in the headers: give one of them`,
    )
  const own = Object.fromEntries(
    inHeaders.map((member) => [HEADERS[member].toLowerCase(), headers[HEADERS[member].toLowerCase()]]),
  )
  const read = readRepresentation(own).representation
  const both = { ...read, ...representationIn(body).representation }
  return representationIn(both)
}

export function representationHeaders({ representation }: Said): Record<string, string> {
  const headers: Record<string, string> = {}
  if (representation === undefined) return headers
  for (const member of MEMBERS) {
    const value = representation[member]
    if (value !== undefined)
      headers[HEADERS[member].toLowerCase()] = Buffer.from(value, 'utf8').toString('latin1')
  }
  return headers
}

/** The part of them that 304 repeats. [RFC 9110 15.4.5] */
export function cachingHeaders(object: Said): Record<string, string> {
  const { 'cache-control': cacheControl, expires } = representationHeaders(object)
  return {
    ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
    ...(expires === undefined ? {} : { expires }),
  }
}

function said(representation: Representation | undefined): Said {
  return representation === undefined ? {} : { representation }
}
