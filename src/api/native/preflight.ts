/**
 * The route of the preflight of a signed URL: the one preflight that is answered. [native: Signed-URL access]
 *
 * Everywhere else an OPTIONS request is one without a token, and is refused like any other; a browser sends no token with a
 * preflight, so an answer would reveal to unauthenticated clients which buckets exist.
 */
import Type from 'typebox'
import { preflightSigned } from '../../operations/signed/preflight-signed.ts'
import { preflightHeaders } from '../cors-headers.ts'
import { CAT, PAGE } from '../examples/names.ts'
import { preflightQuestion } from '../preflight-question.ts'
import { signedRoute } from '../route.ts'
import { SIGNED_PATH } from './signed-address.ts'

export const preflightRoutes = [
  signedRoute(
    preflightSigned,
    {
      method: 'OPTIONS',
      path: `${SIGNED_PATH}/{bucket}/{key...}`,
      summary: 'Ask, as browsers do, whether a page may use a signed URL',
      description:
        'Answers when the token allows the method that is asked about and a CORS rule of the bucket fits; else 401 or 403, without a header that a browser would take for a yes.',
      query: Type.Object({ token: Type.String() }, { additionalProperties: false }),
      requestHeaders: [
        { name: 'Origin', description: 'Of the page', required: true },
        {
          name: 'Access-Control-Request-Method',
          description: 'Of the request that it wants to send',
          required: true,
        },
        { name: 'Access-Control-Request-Headers', description: 'Of the same, separated by commas' },
      ],
      responseHeaders: [
        { name: 'Access-Control-Allow-Origin', description: 'The origin, or * where the rule says so' },
        { name: 'Access-Control-Allow-Methods', description: 'Those of the rule' },
        { name: 'Access-Control-Allow-Headers', description: 'Those that were asked for' },
        { name: 'Access-Control-Max-Age', description: 'Seconds for which a browser may remember it' },
      ],
      success: { status: 204, description: 'The page may send the request' },
      example: {
        params: CAT,
        query: { token: '{signURL.token}' },
        headers: { Origin: PAGE, 'Access-Control-Request-Method': 'GET' },
      },
    },
    async (services, principal, { params, headers }) => {
      const question = preflightQuestion(headers)
      const grant = await preflightSigned(services, principal, { ...params, ...question })
      return { kind: 'empty', headers: preflightHeaders(grant, question.headers) }
    },
  ),
]
