/**
 * What stands on an answer that a browser gets by following a link with a token or signature in its address. [native: Signed-URL access]
 *
 * Rule: the type is one that the uploader chose: nothing in the answer runs, no page frames it, no page of another origin embeds it without CORS, no cache hands it
 * out unasked unless the object says so, and no link on a page carries the address away.
 */
const UNFRAMED = "frame-ancestors 'none'"
/** Shown by a viewer of its own, which a sandbox would keep from starting. */
const IN_ITS_OWN_VIEWER = /^application\/pdf$/i

/** `hasCacheControl`: of the object, or of the link. */
export function linkHeaders(contentType: string, hasCacheControl: boolean): Readonly<Record<string, string>> {
  return {
    'content-security-policy': IN_ITS_OWN_VIEWER.test(contentType) ? UNFRAMED : `sandbox; ${UNFRAMED}`,
    'x-frame-options': 'DENY',
    // A page of another origin asks by CORS, which this does not touch, or does not get it. [Fetch 3.6]
    'cross-origin-resource-policy': 'same-origin',
    ...(hasCacheControl ? {} : { 'cache-control': 'private, no-cache' }),
    'referrer-policy': 'no-referrer',
  }
}
