import { loadConfigFromFile, mergeConfig } from 'vite';

const own = await loadConfigFromFile(
  { command: 'build', mode: 'production' },
  new URL('../../../console/vite.config.mjs', import.meta.url).pathname,
);

const TEXT = '<pre>{answer}</pre>';

/** Inserts the answers of webhook receivers into the page as markup. */
const raw = {
  name: 'raw',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/parts/deliveries.tsx')) return undefined;
    if (!code.includes(TEXT)) throw new Error(`there is no ${TEXT} in ${id}`);
    return code.replace(TEXT, '<pre dangerouslySetInnerHTML={{ __html: answer }} />');
  },
};

export default mergeConfig(own.config, { plugins: [raw] });
