/**
 * What the fields of a browser form say of the object, as the headers of the PUT that it stands for.
 *
 * Owns: names of fields. Knows nothing of: what a header means; PutObject reads them, so that a form and a request are judged alike. [AWS S3 API reference: POST Object]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { FormFault } from './form-fault.ts'
import { readXml } from '../xml/read-xml.ts'

/** Fields that are headers by the same name, beside those that begin with `x-amz-`. */
const HEADERS: ReadonlySet<string> = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-md5',
  'content-type',
  'expires',
  'if-match',
  'if-none-match',
])
/** The proof of a form, and not of the object. */
const OF_SIGNATURES: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-signature',
])
/** Read by the form itself. */
const OWN: ReadonlySet<string> = new Set([
  'acl',
  'bucket',
  'key',
  'policy',
  'redirect',
  'success_action_redirect',
  'success_action_status',
  'tagging',
])
const FILE_NAME = '${filename}'
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
const TAGGING_BOUNDS = { bytesMax: 20 * 1024, elementsMax: 64, depthMax: 4 }

/** Whether S3 looks at a field of this lower-case name. */
export function isMeantField(name: string): boolean {
  return OWN.has(name) || HEADERS.has(name) || name.startsWith('x-amz-')
}

/** With the name of the file in the place of each `${filename}`, without its path. What is signed stays as it is. */
export function expandedFields(
  fields: ReadonlyMap<string, string>,
  fileName: string,
): ReadonlyMap<string, string> {
  const bare = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1)
  const expanded = ([name, text]: readonly [string, string]): readonly [string, string] =>
    name === 'policy' || OF_SIGNATURES.has(name)
      ? [name, text]
      : [name, text.replaceAll(FILE_NAME, () => bare)]
  return new Map([...fields].map(expanded))
}

/** As Node gives headers: one character a byte. Throws FormFault, MalformedXmlError for tags that are no document. */
export async function formHeaders(fields: ReadonlyMap<string, string>): Promise<IncomingHttpHeaders> {
  const headers = new Map<string, string>()
  for (const [name, text] of fields)
    if (HEADERS.has(name) || (name.startsWith('x-amz-') && !OF_SIGNATURES.has(name)))
      headers.set(name, headerText(name, text))
  const acl = fields.get('acl')
  if (acl !== undefined) headers.set('x-amz-acl', headerText('acl', acl))
  const tagging = fields.get('tagging')
  if (tagging !== undefined) headers.set('x-amz-tagging', await tagsIn(tagging))
  return Object.fromEntries(headers)
}

function headerText(name: string, text: string): string {
  const value = text.trim()
  if (/\p{Cc}/u.test(value) || !HEADER_NAME.test(name))
    throw new FormFault(
      'InvalidArgument',
      `The field "${name.slice(0, 80)}" cannot be kept with an object: it has a control character, or a name that no header has`,
    )
  return Buffer.from(value).toString('latin1')
}

/** The field holds a document, the header a query. */
async function tagsIn(document: string): Promise<string> {
  const root = await readXml([Buffer.from(document)], TAGGING_BOUNDS)
  const tags = root.needed('TagSet').childrenNamed('Tag')
  const pairs = new URLSearchParams()
  for (const tag of tags) pairs.append(tag.needed('Key').text, tag.needed('Value').text)
  return pairs.toString()
}
