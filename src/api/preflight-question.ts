/**
 * What a preflight asks: whether a page of an origin may send a request with a method and headers. [Fetch 4.8]
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { CorsQuestion } from '../access/cors-match.ts'
import { Refusal } from '../base/refusal.ts'

/** Throws Refusal invalid_request. */
export function preflightQuestion(headers: IncomingHttpHeaders): CorsQuestion {
  return {
    origin: required(headers, 'origin'),
    method: required(headers, 'access-control-request-method'),
    headers: namesIn(headers['access-control-request-headers']),
  }
}

function required(headers: IncomingHttpHeaders, name: 'origin' | 'access-control-request-method'): string {
  const value = headers[name]
  if (value !== undefined) return value
  throw new Refusal('invalid_request', `A preflight has the header "${name}", which is missing`)
}

function namesIn(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
