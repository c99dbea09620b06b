import { type Config, KEYS, settingOf } from '../../config/schema.ts';

/** Shorter secrets occur in any text by chance. */
const SECRET_CHARACTERS_MIN = 4;
const MASK = '***';

const API_KEY = /\b(olh_[0-9a-f]{16}_)[A-Za-z0-9_-]{43}/g;
const WEB_TOKEN = /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g;
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/"'<>]+@/gi;

/**
 * Returns a function that replaces secrets in text by asterisks: the values of the secret settings and of `more`, as they
 * are, in JSON and in URLs; API keys except their ids; JSON Web Tokens; and users and passwords of URLs.
 */
export function scrubber(config: Config, more: readonly string[] = []): (text: string) => string {
  const settings = KEYS.filter((key) => settingOf(key).secret === true).map((key) => config[key]);
  const secrets = [...settings, ...more].filter((value): value is string => typeof value === 'string');
  const forms = secrets
    .filter(({ length }) => length >= SECRET_CHARACTERS_MIN)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // A secret may contain another one.
  const longestFirst = [...new Set(forms)].sort((one, other) => other.length - one.length);
  return (text) => {
    // First, since the token of the command may be a key.
    const withoutKeys = text.replace(API_KEY, `$1${MASK}`);
    const without = longestFirst.reduce((left, secret) => left.replaceAll(secret, MASK), withoutKeys);
    return without.replace(WEB_TOKEN, MASK).replace(URL_CREDENTIALS, `$1${MASK}@`);
  };
}
