/**
 * What the listings of S3 have in common in their queries. [AWS S3 API reference: ListObjects, ListObjectVersions, ListMultipartUploads]
 */
import { S3Fault } from '../base/s3-errors.ts'
import { element, urlEncoded, type XmlElement } from '../xml/write-xml.ts'

export type S3Query = Readonly<Record<string, string | undefined>>

const LINES_MAX = 1000
/** S3 takes any number of 31 bits. */
const COUNT_MAX = 2 ** 31 - 1

export interface Count {
  /** What the answer says. */
  readonly max: number
  /** For the operation, which shows at least one line. */
  readonly limit: number
  /** True: it asks only whether it may ask. */
  readonly isNothing: boolean
}

/** `name`: of the parameter. Throws S3Fault InvalidArgument. */
export function readCount(query: S3Query, name: string): Count {
  const text = query[name] ?? ''
  const asked = text === '' ? LINES_MAX : Number(text)
  if (text !== '' && (!/^\d{1,10}$/.test(text) || asked > COUNT_MAX))
    throw wrongParameter(name, text, `is no whole number from 0 to ${COUNT_MAX}`)
  const max = Math.min(asked, LINES_MAX)
  return { max, limit: Math.max(1, max), isNothing: max === 0 }
}

/** How keys and prefixes are written in the answer. */
export interface Encoding {
  readonly text: (text: string) => string
  /** Null: they stand as they are. */
  readonly type: XmlElement | null
}

/** Throws S3Fault InvalidArgument. */
export function readEncoding(query: S3Query): Encoding {
  const type = query['encoding-type'] ?? ''
  if (type === '') return { text: (text) => text, type: null }
  if (type.toLowerCase() !== 'url') throw wrongParameter('encoding-type', type, 'is no encoding: give url')
  return { text: urlEncoded, type: element('EncodingType', 'url') }
}

function wrongParameter(name: string, value: string, what: string): S3Fault {
  const shown = value.slice(0, 80)
  const elements = { ArgumentName: name, ArgumentValue: shown }
  return new S3Fault('InvalidArgument', `The parameter ${name} "${shown}" ${what}`, { elements })
}
