/**
 * A request as a line for a POSIX shell, which has the token in `$TOKEN`. Pure.
 */
interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** 'file': bytes, for which the line names FILE. */
  readonly body: { readonly type: string; readonly text: string } | 'file' | null
}

export function curlLine({ method, url, headers = {}, body }: CurlRequest): string {
  return [
    'curl -fsS',
    // With -X HEAD it would wait for a body.
    ...(method === 'GET' ? [] : method === 'HEAD' ? ['-I'] : [`-X ${method}`]),
    '-H "Authorization: Bearer $TOKEN"',
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null
      ? []
      : body === 'file'
        ? ['-T FILE']
        : [`-H ${quoted(`Content-Type: ${body.type}`)}`, `-d ${quoted(body.text)}`]),
    quoted(url),
  ].join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
