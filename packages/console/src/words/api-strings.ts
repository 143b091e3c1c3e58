/**
 * The texts of the reference of the API and of lines for a shell, in English, under the rules of strings.ts.
 */
export const REQUESTS = {
  title: 'Requests of this page as curl',
  curl: 'curl',
  token: 'Nothing is sent. $TOKEN stands for your token.',
  lineOf: (label: string) => `As curl: ${label}`,
  about:
    'The newest first. $TOKEN stands for your token: of the admin API, or, below /console/data, the one for which an access key is exchanged.',
  all: 'Show what this screen asks for',
  onlyChanges: 'Show changes and plans only',
  none: 'Nothing was asked for yet.',
  pages: 'Reference of both APIs',
  asCurl: 'As curl',
  notYet: 'Fill in the fields to see the line.',
  line: (method: string, path: string, status: number | null) =>
    `${method} ${path}${status === null ? '' : `, answered with ${status}`}`,
} as const

export const API = {
  title: 'Reference of the API',
  planes: { data: 'Data plane', admin: 'Admin plane' },
  about:
    'Every operation, with what it takes, what it answers, and a line for a shell; $TOKEN is your token.',
  pages: 'The same as pages of the documentation',
  none: 'No operation matches.',
  noDocument: 'This node was built without the documentation, which contains this reference.',
  search: 'Path, operation or words',
  count: (operations: number) => `${operations} ${operations === 1 ? 'operation' : 'operations'}`,
  parameters: 'Parameters',
  body: 'Body',
  answer: (status: string) => `Answer ${status}`,
  errors: 'Other answers',
  member: 'Member',
  type: 'Type',
  required: 'required',
  example: (operation: string) => `curl: ${operation}`,
} as const
