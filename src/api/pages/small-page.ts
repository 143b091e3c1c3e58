/**
 * Pages of a few lines, complete in themselves: no style, no script, no image.
 */
import type { FastifyRequest } from 'fastify'
import type { Answer } from '../route.ts'

/** The initial of the name; a request for it can be answered for a year. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#0a5fb4"/><path d="M9 7v18M23 7v18M9 16h14" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>'
const IS_PAGE = /\btext\/html\b/
const IS_ICON = /\b(text\/html|image\/[\w.*+-]+)/

/** `html`: with every value escaped. */
export function smallPage(title: string, html: string): Answer {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Holdfast</title>
</head>
<body>
<h1>${escaped(title)}</h1>
${html}
</body>
</html>
`
  const headers = {
    'content-security-policy': "default-src 'none'; img-src 'self'; frame-ancestors 'none'",
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    vary: 'Accept, Authorization',
    'cache-control': 'no-cache',
  }
  return { kind: 'text', contentType: 'text/html; charset=utf-8', text, headers }
}

export function icon(): Answer {
  const headers = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    vary: 'Accept, Authorization',
    'cache-control': 'public, max-age=86400',
  }
  return { kind: 'text', contentType: 'image/svg+xml', text: ICON, headers }
}

/** Without credentials, and asking for a page: clients of the APIs do neither. */
export function isAskedByBrowser(request: FastifyRequest): boolean {
  return isAnonymous(request) && IS_PAGE.test(request.headers.accept ?? '')
}

/** The same for the icon that browsers ask for by themselves. */
export function isIconAsked(request: FastifyRequest): boolean {
  return isAnonymous(request) && IS_ICON.test(request.headers.accept ?? '')
}

function isAnonymous({ method, headers, originalUrl }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return headers.authorization === undefined && !originalUrl.includes('?')
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
