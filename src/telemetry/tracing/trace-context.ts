/**
 * The header `traceparent`: which trace a request belongs to. [W3C Trace Context 3.2]
 *
 * Rule: a header that is not well formed counts as absent; a request is never refused for it.
 */
export interface TraceContext {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string
  /** 16 hexadecimal digits, not all 0. */
  readonly spanId: string
  readonly isSampled: boolean
}

const FORM = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const NONE = /^0+$/

/** Of a span that is traced. */
export const writeTraceparent = ({ traceId, spanId }: Pick<TraceContext, 'traceId' | 'spanId'>): string =>
  `00-${traceId}-${spanId}-01`

export function parseTraceparent(header: string | undefined): TraceContext | null {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = FORM.exec(header ?? '') ?? []
  // Later versions may append fields, this one has none. [3.2.4]
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (NONE.test(traceId) || NONE.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
