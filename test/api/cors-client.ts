/**
 * Shared by tests of CORS: a bucket with rules, and the headers for a browser.
 */
import type { ApiWorld, ApiAnswer } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'

export const APP = 'https://app.example.com'
export const RULES = [
  {
    id: 'app',
    allowedOrigins: [APP, 'https://*.example.org'],
    allowedMethods: ['GET', 'PUT'],
    allowedHeaders: ['content-type', 'x-service-meta-*'],
    exposeHeaders: ['ETag', 'X-Request-Id'],
    maxAgeSeconds: 600,
  },
  { id: 'public', allowedOrigins: ['*'], allowedMethods: ['HEAD'] },
]
export const VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'

/** By a key of all four verbs: `films` with the rules above and the object `in/a b`, with the body hello. */
export async function filmsWithRules(t: Parameters<typeof ApiWorld.start>[0]): Promise<BucketClient> {
  const films = await (await BucketClient.start(t)).asAdmin()
  await films.ask({ method: 'PUT', path: '/api/v1/buckets/films/cors', body: { rules: RULES } })
  await films.put('in/a%20b')
  return films
}

export const corsOf = ({ headers }: ApiAnswer): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))
