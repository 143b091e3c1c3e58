/**
 * What a person sees who opens the address of the data listener in a browser: what this is, and where to read on. It shows nothing of the cluster.
 */
import type { FastifyRequest } from 'fastify'
import { dataUrlOf } from '../../../config/listener-urls.ts'
import type { Config } from '../../../config/types.ts'
import type { Answer } from '../../route.ts'

/** Without credentials, and asking for a page: clients of the S3 API do neither. */
export function isAskedByBrowser({ method, headers, originalUrl }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const isSigned = headers.authorization !== undefined || originalUrl.includes('?')
  return !isSigned && (headers.accept ?? '').includes('text/html')
}

export function landingPage(config: Config): Answer {
  const url = escaped(dataUrlOf(config))
  const text = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Holdfast</title>
<h1>Holdfast</h1>
<p>This is the data listener of a Holdfast object store. It has no pages: programs use it with an access key.</p>
<ul>
<li>S3 clients: endpoint <code>${url}</code>, region <code>${escaped(config.security.s3Region)}</code>, path style, signature version 4</li>
<li>Native API: <code>${url}/api/v1/</code>, described by <a href="/api/v1/openapi.json">/api/v1/openapi.json</a></li>
</ul>
</html>
`
  const headers = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  }
  return { kind: 'text', contentType: 'text/html; charset=utf-8', text, headers }
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
