/**
 * What a person sees who opens the address of the data listener in a browser: what this is, and where to read on. It shows nothing of the cluster.
 */
import type { FastifyRequest } from 'fastify'
import { dataUrlOf } from '../../config/listener-urls.ts'
import type { Config } from '../../config/types.ts'
import type { Answer } from '../route.ts'
import { escaped, icon, isAskedByBrowser, isIconAsked, smallPage } from './small-page.ts'

/** To the S3 API a bucket; a request for it without a credential would be refused. */
const ICON = 'favicon.ico'

/** `bucket`: that the request names, '' for none. null: it is for the API. */
export function dataFront(config: Config, request: FastifyRequest, bucket: string): Answer | null {
  if (bucket === '' && isAskedByBrowser(request)) return frontPage(config)
  return bucket === ICON && isIconAsked(request) ? icon() : null
}

function frontPage(config: Config): Answer {
  const url = escaped(dataUrlOf(config))
  const region = escaped(config.security.s3Region)
  return smallPage(
    'Holdfast: data listener',
    `<p>This is the data listener of a Holdfast object store. Programs use it with an access key.</p>
<ul>
<li>S3 clients: endpoint <code>${url}</code>, region <code>${region}</code>, path style, signature version 4</li>
<li>Native API: <code>${url}/api/v1/</code>, described by <a href="/api/v1/openapi.json">/api/v1/openapi.json</a></li>
<li>Documentation: at <code>/docs/</code> of the admin listener, which operators can reach, and <code>holdfast --help</code></li>
</ul>`,
  )
}
