/**
 * XML documents as S3 writes them: a tree of elements as data, and its bytes. [XML 1.0 2.2, 2.4, 4.1] [AWS S3 API reference]
 *
 * Owns: the one escaper, and the encoding of keys for `encoding-type=url`. Knows nothing of: what is listed. Rules: names of elements and of
 * attributes are written in code and never come from a request; a text never ends its element.
 */

export interface XmlElement {
  readonly name: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly children: readonly XmlNode[]
}

/** Elements that are written already, by `leaf` and `xmlText`: for the many lines of a listing no tree is made. */
export interface WrittenXml {
  readonly written: string
}

/** Numbers are finite. */
export type XmlNode = XmlElement | WrittenXml | string | number

/** What every document begins with. */
export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** Children that are null, undefined or false are left out, so that an optional one is a condition in its place. */
export function element(
  name: string,
  ...children: readonly (XmlNode | null | undefined | false)[]
): XmlElement {
  return {
    name,
    children: children.filter((child) => child !== null && child !== undefined && child !== false),
  }
}

/** UTF-8. `namespace`: of the root and so of all elements; null: none, as in errors. */
export function xmlDocument(root: XmlElement, namespace: string | null = S3_NAMESPACE): Buffer {
  const attributes = namespace === null ? root.attributes : { xmlns: namespace, ...root.attributes }
  return Buffer.from(DECLARATION + xmlText(attributes === undefined ? root : { ...root, attributes }))
}

/** An element that holds nothing but a text. */
export const leaf = (name: string, text: string): string => `<${name}>${escaped(text)}</${name}>`

export function xmlText(node: XmlNode): string {
  if (typeof node === 'string') return escaped(node)
  if (typeof node === 'number') return `${node}`
  if ('written' in node) return node.written
  const { attributes, children, name } = node
  const start = attributes === undefined ? name : name + writtenAttributes(attributes)
  if (children.length === 0) return `<${start}/>`
  let text = `<${start}>`
  for (const child of children) text += xmlText(child)
  return `${text}</${name}>`
}

const writtenAttributes = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('')

/** Markup, line ends and tabs, which parsers normalize, and what is no character of XML 1.0. */
const TO_ESCAPE = /[&<>"'\p{Cc}\ufffe\uffff]/u
const ALL_TO_ESCAPE = new RegExp(TO_ESCAPE, 'gu')
const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
  '\n': '&#10;',
  '\t': '&#9;',
}

/**
 * Characters that XML 1.0 cannot carry become references such as `&#x1;`, as S3 writes them. Lenient parsers then read the true key; strict ones
 * stop, and `encoding-type=url` is the documented way for them. A substitute would be read by all, as the name of another object: a client
 * that continues from it would pass over keys, and one that deletes could hit the wrong one. Halves of surrogate pairs become U+FFFD in UTF-8.
 */
function escaped(text: string): string {
  if (!TO_ESCAPE.test(text)) return text
  return text.replace(ALL_TO_ESCAPE, (character) => NAMED[character] ?? reference(character))
}

const reference = (character: string): string => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`

/** The same text, accepted by every XML parser, for messages and for what is quoted in them: U+FFFD for control characters and others that XML 1.0 cannot carry. */
export function xmlSafe(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
}

const URL_PLAIN = /^[A-Za-z0-9\-_./*]*$/

/**
 * A key, prefix, delimiter or marker in an answer with `encoding-type=url`: UTF-8 with percent signs and upper-case digits; letters, digits and
 * `-_./*` stand for themselves. A space is `%20`, which clients read that decode a form (`unquote_plus`, `url.QueryUnescape`), and those that do not.
 */
export function urlEncoded(text: string): string {
  if (URL_PLAIN.test(text)) return text
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(/%2F|[!'()~]/g, urlSpelling)
}

function urlSpelling(found: string): string {
  if (found === '%2F') return '/'
  return `%${found.charCodeAt(0).toString(16).toUpperCase()}`
}
