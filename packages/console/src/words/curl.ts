/**
 * A request as a line for a POSIX shell, which has the token in `$TOKEN`. Pure.
 */
interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly body: { readonly type: string; readonly text: string } | null
}

export function curlLine({ method, url, body }: CurlRequest): string {
  return [
    'curl -fsS',
    // With -X HEAD it would wait for a body.
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['-I'] : [`-X ${method}`]),
    '-H "Authorization: Bearer $TOKEN"',
    ...(body === null ? [] : [`-H ${quoted(`Content-Type: ${body.type}`)}`, `-d ${quoted(body.text)}`]),
    quoted(url),
  ].join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
