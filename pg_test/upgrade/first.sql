-- What users may have made of 0.1.0 that no later version has: it is in the way of an update, which names it.
CREATE VIEW estimated AS SELECT a.id AS a, b.id AS b FROM docs a, docs b WHERE a.id < b.id AND b.id <= 12 AND a.body <@ near(b.body, 0.8, 2, 64);
CREATE INDEX by_text ON docs USING signature (body);
CREATE INDEX by_text_options ON docs USING signature (body text_minhash_ops (k = 2, permutations = 64)) WITH (threshold = 0.7);
