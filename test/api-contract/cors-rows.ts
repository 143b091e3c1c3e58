/**
 * The contract of CORS: the rules of a bucket, the preflight of signed URLs, the headers on answers.
 */
export const corsRows = {
  'cors.get': 'GET /buckets/{bucket}/cors: the configuration [native: Buckets]',
  'cors.get.unset': 'never set, or deleted: 404 not_found [decisions 2]',
  'cors.set': 'PUT /buckets/{bucket}/cors: 200, and the configuration in the answer [native: Buckets]',
  'cors.set.replace': 'a PUT replaces all rules [native: CORS configuration]',
  'cors.set.admin': 'PUT without an admin scope: 403 access_denied [native: Authorization 2]',
  'cors.delete': 'DELETE /buckets/{bucket}/cors: 204, again too [native: Buckets]',
  'cors.delete.admin': 'DELETE without an admin scope: 403, like PUT [decisions 16]',
  'cors.has-cors': 'hasCors of the bucket says whether rules are set [decisions 2]',
  'cors.with-bucket':
    'rules are removed with their bucket, and are not those of its successor [native: Buckets]',
  'cors.other-tenant':
    'the rules of another tenant: 404 with the same message as for none [native: Service 3]',
  'cors.rules.count': '1 to 100 rules, else 400 [decisions 2]',
  'cors.rules.bytes': 'more than 64 KiB: 413 entity_too_large, as with S3 [native: CORS configuration]',
  'cors.rules.id': 'an id has 1 to 255 characters and belongs to one rule [native: CORS configuration]',
  'cors.rules.origins': 'an origin has one * at most, a scheme and no path, else 400 [decisions 2]',
  'cors.rules.methods': 'only GET, HEAD, PUT, POST, DELETE, else 400 [native: Limits]',
  'cors.rules.headers': 'a header has one * at most, else 400 [decisions 2]',
  'cors.rules.max-age': 'maxAgeSeconds is a whole number from 0 on, else 400 [native: CORS configuration]',
  'cors.rules.fields': 'an unknown, missing or mistyped field: 400 that names it [decisions 0]',
  'cors.match.origin':
    'an origin fits a pattern; * fits all and is answered as * [native: Signed-URL access]',
  'cors.match.headers': 'headers fit without regard to case, each of them [native: Signed-URL access]',
  'cors.match.first': 'the first rule that fits decides [native: CORS configuration]',
  'cors.preflight':
    'OPTIONS /signed/{bucket}/{key...}: 204 with Access-Control-Allow-* [native: Signed-URL access]',
  'cors.preflight.token': 'a token that does not allow it: 401 or 403 [native: Signed URL token 5]',
  'cors.preflight.rules':
    'no rule that fits: 403, without Access-Control headers [native: Signed URL token 5]',
  'cors.preflight.elsewhere': 'OPTIONS without a token anywhere else: 401 [native: Service 4]',
  'cors.answer': 'an answer to a request of a page carries what its rule says [native: CORS configuration]',
  'cors.answer.error': 'a problem too, so that the page can read it [native: CORS configuration]',
  'cors.answer.signed': 'under /signed by the tenant and bucket of the URL [native: Signed-URL access]',
  'cors.answer.expired': 'a page can read that its URL has expired [native: Signed URL token 3]',
  'cors.answer.vary':
    'Vary names the headers that an answer depends on, with and without Origin [native: CORS configuration]',
  'cors.answer.never-credentials': 'Access-Control-Allow-Credentials is never sent [native: Authorization 3]',
  'cors.no-access': 'rules grant nothing: token, scope and the rest decide [native: Authorization 3]',
  'cors.no-leak': 'a caller that may not see the bucket learns nothing about its rules [native: Service 3]',
} as const
