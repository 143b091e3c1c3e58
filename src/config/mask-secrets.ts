/**
 * Masks secrets in every text that is shown of a configuration.
 *
 * Owns: the forms in which a secret gets into a setting by mistake. No setting is intended for a secret.
 * Rule: masking a harmless word is better than showing a secret.
 */
const COVER = '***'

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(-----END \1-----|$)/g, `-----BEGIN $1----- ${COVER}`],
  [/(holdfast-master-key-\d+:[^:\s]*:)[^\s'"]*/g, `$1${COVER}`],
  [/svc(adm|ses|log)_[A-Za-z0-9_.-]+/g, `svc$1_${COVER}`],
  // 32 bytes in base64url: the length of every key and token of this service.
  [/(?<![A-Za-z0-9_-])(?=[a-z_-]*[0-9A-Z])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_.-])/g, COVER],
]

const URL_LIKE = /([a-z][a-z0-9+.-]*:\/\/)([^\s'"<>]*)/gi
/** A path segment that looks random: webhook URLs often carry their token in one. */
const TOKEN_IN_PATH = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_~.=-]{20,}$/

export function maskSecrets(text: string): string {
  const masked = FORMS.reduce((done, [form, cover]) => done.replace(form, cover), text)
  return masked.replace(URL_LIKE, (_, scheme: string, rest: string) => scheme + maskUrlRest(rest))
}

/** Masks the part of a URL after `https://`. */
function maskUrlRest(rest: string): string {
  const [, before = '', mark = ''] = /^([^?#]*)([?#]?)/.exec(rest) ?? []
  const [authority = '', ...path] = before.split('/')
  const at = authority.lastIndexOf('@')
  const host = at < 0 ? authority : `${COVER}${authority.slice(at)}`
  const words = path.map((word) => (TOKEN_IN_PATH.test(word) ? COVER : word))
  return [host, ...words].join('/') + (mark === '' ? '' : `${mark}${COVER}`)
}
