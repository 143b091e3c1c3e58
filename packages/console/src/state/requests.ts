/**
 * What the page asks the API for, as lines for a shell: the last requests, without anything secret.
 *
 * Rules: a line names `$TOKEN` in the place of the token; bodies that hold bytes or a secret are left out; as many are kept as are of use.
 */
import { signal, untracked } from '@preact/signals'
import { curlLine } from '../words/curl.ts'
import { addressShown } from './route.ts'

const KEPT_MAX = 50
const BODY_BYTES_MAX = 4096
/** Their bodies are secrets. */
const SECRET = /\/auth\/token$/
/** Members whose values are secrets, also inside of others; a line has the name in the place of the value. */
const SECRET_MEMBER = /"((?:\w*[sS]ecret\w*|passphrase))":"(?:[^"\\]|\\.)*"/g

/** Of the rest, some are secret and some belong to one attempt: digests, keys of a repeated request. */
const SHOWN_HEADER = /^(?:if-.+|range|x-service-(?!.*(?:checksum|customer|idempotency)).+)$/

export interface AskedRequest {
  readonly id: number
  readonly method: string
  readonly path: string
  readonly body: string | null
  /** Whether a body is sent that `body` does not show: bytes. */
  readonly isFile: boolean
  /** Those that decide about the effect, without the token. */
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | null
  /** In milliseconds since 1970. */
  readonly at: number
  readonly isData: boolean
  /** The address of the screen that asked. */
  readonly screen: string
}

export type ShownRequest = Pick<AskedRequest, 'method' | 'path' | 'body' | 'isFile' | 'headers'>

/** The newest first. */
export const requests = signal<readonly AskedRequest[]>([])

/** How often an answer came after a request that had none, or after one that the node refused because it stops or starts. */
export const answersAgain = signal(0)

let lastId = 0
let isSilent = false

/** A node that stops refuses with this, and so does the balancer before it. */
const IS_AWAY = new Set([502, 503, 504])

async function noticed(asked: Promise<Response>): Promise<Response> {
  try {
    const answer = await asked
    if (IS_AWAY.has(answer.status)) isSilent = true
    else if (isSilent) {
      isSilent = false
      answersAgain.value++
    }
    return answer
  } catch (error) {
    isSilent = true
    throw error
  }
}

/** `fetch`, which keeps what it sends. `below`: the path under which the node has the API; '' for its own. */
export function followed(below: string): typeof fetch {
  return async (input, init = {}) => {
    const sent = requestOf(input, init)
    const asked: AskedRequest = {
      ...sent,
      id: ++lastId,
      status: null,
      at: Date.now(),
      isData: below !== '',
      screen: untracked(addressShown),
    }
    // The page waits here all the time: it is no action of its user.
    if (!/\/(?:changes|events)(?:\?|$)/.test(sent.path))
      requests.value = [asked, ...requests.peek()].slice(0, KEPT_MAX)
    const answer = await noticed(fetch(input, init))
    requests.value = requests
      .peek()
      .map((one) => (one.id === asked.id ? { ...one, status: answer.status } : one))
    return answer
  }
}

/** What a call of `fetch` asks for, without secrets. */
export function requestOf(
  input: Parameters<typeof fetch>[0],
  { method = 'GET', body, headers }: RequestInit = {},
): ShownRequest {
  const { pathname, search } = new URL(input instanceof Request ? input.url : input, location.origin)
  const text = SECRET.test(pathname) ? null : withoutSecrets(textOf(body))
  const isJson = text !== null && /^[[{]/.test(text)
  return {
    method,
    path: pathname + search,
    body: isJson ? text : null,
    isFile: !isJson && body instanceof Uint8Array,
    headers: Object.fromEntries([...new Headers(headers)].filter(([name]) => SHOWN_HEADER.test(name))),
  }
}

const withoutSecrets = (body: string | null): string | null =>
  body?.replace(SECRET_MEMBER, (_, name: string) => `"${name}":"${name.toUpperCase()}"`) ?? null

function textOf(body: BodyInit | null | undefined): string | null {
  const isShort = body instanceof Uint8Array && body.length <= BODY_BYTES_MAX
  return typeof body === 'string' ? body : isShort && body.length > 0 ? new TextDecoder().decode(body) : null
}

/** For a shell. */
export function curlOf({ method, path, body, isFile, headers }: ShownRequest): string {
  return curlLine({
    method,
    url: `${location.origin}${path}`,
    headers,
    body: body === null ? (isFile ? 'file' : null) : { type: 'application/json', text: body },
  })
}
