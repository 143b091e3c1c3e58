/** What stands in a form cannot be sent as it is; the message says why, to the person who filled it in. */
export class InputError extends Error {
  override name = 'InputError'
}
